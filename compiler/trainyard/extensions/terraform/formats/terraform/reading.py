"""The resources of a module as plan items, the same nodes as those of a CloudFormation template.

A resource's logical name is its address (`aws_iam_role.nodes`). What an expression gives is unknown: it is left out,
and its field is among the node's ``unread``; a reference gives the address of what it is to.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace

from trainyard.core.cloud.plan import (
    AccessEntryStack,
    AccessPolicy,
    Bucket,
    CloudResource,
    ControlPlane,
    EventRule,
    FileSystemStack,
    IamRole,
    LimitedResource,
    LinkedFolder,
    MessageQueue,
    NodeGroupStack,
    PlacementGroupStack,
    PodIdentityStack,
    RepositoryStack,
    SecurityGroupStack,
    SecurityRule,
)
from trainyard.core.launch.plan import LaunchTemplate
from trainyard.extensions.terraform.formats.terraform.faults import resources
from trainyard.extensions.terraform.formats.terraform.launches import IMAGES, field_of, spelling
from trainyard.extensions.terraform.formats.terraform.policies import policy_of
from trainyard.extensions.terraform.formats.terraform.values import (
    flag_at,
    is_filled_in,
    name_at,
    several_at,
    text_at,
    texts_at,
    unread_of,
)
from trainyard.language.places import Route
from trainyard.lift.launch_templates import (
    joined,
    launch_template,
    starter_of_ec2,
    starter_of_eks,
    template_named,
)
from trainyard.lift.reader import Reader
from trainyard.output.artifact import Artifact

_PUBLIC = {
    "block_public_acls": "BlockPublicAcls",
    "block_public_policy": "BlockPublicPolicy",
    "ignore_public_acls": "IgnorePublicAcls",
    "restrict_public_buckets": "RestrictPublicBuckets",
}
Read = Callable[[Reader, str], list[CloudResource]]


def nodes(artifacts: Iterable[Artifact]) -> list[CloudResource | LaunchTemplate]:
    """The resources of the files of one module whose type is read."""
    found: Found = {}
    for artifact in artifacts:
        file = Reader(artifact.body, Route((artifact.id,)))
        for place, kind, _ in resources(artifact.body):
            body = file.follow(*place)
            address = f"{kind}.{place[2]}"
            found.setdefault(kind, []).append((body, address))
    read: list[CloudResource] = []
    for kind, of_cloudformation in _LIMITED.items():
        for body, address in found.get(kind, ()):
            read.append(LimitedResource(at=body.at, logical=address, kind=of_cloudformation))
    for kind, reader in _READERS.items():
        for body, address in found.get(kind, ()):
            read += reader(body, address)
    attached = _attached(read, found)
    whole = [_whole(resource, found) for resource in attached]
    return [*whole, *_launch_templates(found, whole)]


def _launch_templates(found: Found, read: Iterable[CloudResource]) -> list[LaunchTemplate]:
    """The launch templates of a module, with what its groups say of the machines."""
    bodies = found.get("aws_launch_template", ())
    if not bodies:
        return []
    images = {address: body for kind in IMAGES for body, address in found.get(kind, ())}
    spelled = spelling(images)
    templates = [
        launch_template(body, address, body, body / "name", spelled) for body, address in bodies
    ]
    starters = [starter_of_eks(each) for each in read if isinstance(each, NodeGroupStack)]
    for body, address in found.get("aws_autoscaling_group", ()):
        starters.append(starter_of_ec2(body, address, spelled))
    return joined(templates, starters)


def _role(body: Reader, address: str) -> list[CloudResource]:
    trust = policy_of(body / "assume_role_policy", address, "trust")
    managed = body / "managed_policy_arns"
    names = map(name_at, managed.items())
    role = IamRole(
        at=body.at,
        logical=address,
        name=text_at(body / "name"),
        trust=trust,
        managed=tuple(name or "" for name in names),
        origins={"name": (body / "name").at, "managed": managed.at, "inline": body.at},
        unread=unread_of(name=body / "name"),
    )
    if trust is None:
        return [role]
    return [role, trust]


def _policy(what: str, holder: str) -> Read:
    """A policy that is a resource of its own; ``holder`` is the argument that says whose."""

    def read(body: Reader, address: str) -> list[CloudResource]:
        name = None
        if what in ("managed", "inline"):
            name = text_at(body / "name")
        policy = policy_of(body / "policy", address, what, name)
        if policy is None:
            return []
        if holder:
            whose = name_at(body / holder)
        else:
            whose = None
        holders = (whose,) if whose else ()
        return [replace(policy, holders=holders)]

    return read


def _queue(body: Reader, address: str) -> list[CloudResource]:
    managed = body / "sqs_managed_sse_enabled"
    key = body / "kms_master_key_id"
    queue = MessageQueue(
        at=body.at,
        logical=address,
        name=text_at(body / "name"),
        managed_encryption=flag_at(managed),
        key=key.value not in (None, ""),
        retention=(body / "message_retention_seconds").number(),
        origins={"managed_encryption": managed.at, "key": key.at},
        unread=unread_of(managed_encryption=managed),
    )
    return [queue]


def _bucket(body: Reader, address: str) -> list[CloudResource]:
    name = body / "bucket"
    bucket = Bucket(
        at=body.at,
        logical=address,
        name=text_at(name),
        origins={"public_access": body.at, "name": name.at},
    )
    return [bucket]


def _file_system(body: Reader, address: str) -> list[CloudResource]:
    deployment = body / "deployment_type"
    size = body / "storage_capacity"
    imports = body / "import_path"
    exports = body / "export_path"
    backups = body / "automatic_backup_retention_days"
    system = FileSystemStack(
        at=body.at,
        logical=address,
        kind="LUSTRE",
        deployment=text_at(deployment),
        size=size.number(),
        version=text_at(body / "file_system_type_version"),
        efa=flag_at(body / "efa_enabled"),
        throughput=(body / "per_unit_storage_throughput").number(),
        backup_days=backups.number(),
        imports=bool(text_at(imports)),
        exports=bool(text_at(exports)),
        origins={
            "deployment": deployment.at,
            "size": size.at,
            "backup_days": backups.at,
            "imports": imports.at,
            "exports": exports.at,
        },
        unread=unread_of(deployment=deployment, size=size),
    )
    return [system]


def _linked_folder(body: Reader, address: str) -> list[CloudResource]:
    place = body / "data_repository_path"
    events = body.follow("s3", "auto_export_policy", "events")
    for s3 in several_at(body / "s3"):
        for policy in several_at(s3 / "auto_export_policy"):
            events = policy / "events"
    folder = LinkedFolder(
        at=body.at,
        logical=address,
        place=text_at(place),
        exports=events.texts(),
        origins={"place": place.at, "exports": events.at},
        unread=unread_of(place=place),
    )
    return [folder]


def _repository(body: Reader, address: str) -> list[CloudResource]:
    mutability = body / "image_tag_mutability"
    scanning = several_at(body / "image_scanning_configuration")
    configuration = body / "image_scanning_configuration"
    if scanning:
        configuration = scanning[0]
    scan = configuration / "scan_on_push"
    repository = RepositoryStack(
        at=body.at,
        logical=address,
        name=text_at(body / "name"),
        mutability=text_at(mutability),
        scan=flag_at(scan),
        origins={"mutability": mutability.at, "scan": scan.at},
        unread=unread_of(mutability=mutability, scan=scan),
    )
    return [repository]


def _control_plane(body: Reader, address: str) -> list[CloudResource]:
    """Without a word the endpoint is public, for every address (provider's page, aws_eks_cluster)."""
    network = field_of(body, "VpcConfig")
    public = network / "endpoint_public_access"
    blocks = network / "public_access_cidrs"
    version = body / "version"
    unread = unread_of(kubernetes=version, public=public, public_cidrs=blocks)
    if not isinstance(network.value, dict):
        unread |= {"public", "public_cidrs"}
    cluster = ControlPlane(
        at=body.at,
        logical=address,
        name=text_at(body / "name") or address,
        kubernetes=text_at(version) or "",
        public=flag_at(public) if public else True,
        public_cidrs=texts_at(blocks),
        origins={
            "kubernetes": version.at,
            "public": public.at if public else network.at,
            "public_cidrs": blocks.at,
        },
        unread=unread,
    )
    return [cluster]


def _node_group(body: Reader, address: str) -> list[CloudResource]:
    types = body / "instance_types"
    image = body / "ami_type"
    group = NodeGroupStack(
        at=body.at,
        logical=address,
        instance_types=tuple(filter(None, texts_at(types))),
        ami_type=text_at(image),
        template=bool(body / "launch_template"),
        template_name=template_named(field_of(body, "LaunchTemplate"), spelling({})),
        origins={"instance_types": types.at, "ami_type": image.at},
        unread=unread_of(instance_types=types, ami_type=image),
    )
    return [group]


def _event_rule(body: Reader, address: str) -> list[CloudResource]:
    try:
        pattern = json.loads((body / "event_pattern").word())
    except ValueError:
        pattern = {}
    types = Reader(pattern, body.at) / "detail-type"
    return [EventRule(at=body.at, logical=address, detail_types=types.texts())]


def _placement_group(body: Reader, address: str) -> list[CloudResource]:
    strategy = text_at(body / "strategy")
    return [PlacementGroupStack(at=body.at, logical=address, strategy=strategy)]


def _access_entry(body: Reader, address: str) -> list[CloudResource]:
    groups = body / "kubernetes_groups"
    entry = AccessEntryStack(
        at=body.at,
        logical=address,
        cluster=name_at(body / "cluster_name"),
        principal=name_at(body / "principal_arn"),
        kind=text_at(body / "type"),
        groups=tuple(filter(None, map(name_at, several_at(groups)))),
        origins={"groups": groups.at},
    )
    return [entry]


def _pod_identity(body: Reader, address: str) -> list[CloudResource]:
    association = PodIdentityStack(
        at=body.at,
        logical=address,
        cluster=name_at(body / "cluster_name"),
        namespace=text_at(body / "namespace"),
        service_account=text_at(body / "service_account"),
        role=name_at(body / "role_arn"),
    )
    return [association]


def _security_group(body: Reader, address: str) -> list[CloudResource]:
    into = several_at(body / "ingress")
    out = several_at(body / "egress")
    rules = [_rule_within(rule, address, outgoing=False) for rule in into]
    rules += [_rule_within(rule, address, outgoing=True) for rule in out]
    texts = [(body / key).value for key in ("ingress", "egress")]
    is_filled = any(is_filled_in(text) for text in texts)
    is_dynamic = bool(body / "dynamic")
    group = SecurityGroupStack(
        at=body.at,
        logical=address,
        name=text_at(body / "name"),
        description=text_at(body / "description"),
        rules=tuple(rules),
        closed_out=bool(body / "egress"),
        unread=frozenset({"rules"}) if is_filled or is_dynamic else frozenset(),
    )
    return [group]


def _rule_within(body: Reader, address: str, *, outgoing: bool) -> SecurityRule:
    peers = [name_at(peer) for peer in several_at(body / "security_groups")]
    is_own = flag_at(body / "self") or address in peers
    peer = address if is_own else next(iter(peers), None)
    return _rule(body, "protocol", peer, outgoing=outgoing)


def _rule(body: Reader, protocol: str, peer: str | None, *, outgoing: bool) -> SecurityRule:
    """A rule, whose protocol has two names in the provider."""
    return SecurityRule(
        outgoing,
        text_at(body / protocol),
        (body / "from_port").number(),
        (body / "to_port").number(),
        peer,
        body.at,
    )


_ALONE = {"aws_vpc_security_group_ingress_rule": False, "aws_vpc_security_group_egress_rule": True}
# Where CloudFormation has no type of these, there is no service. Of budgets and roles there is one for all Regions.
_LIMITED = {
    "aws_codebuild_project": "AWS::CodeBuild::Project",
    "aws_fsx_lustre_file_system": "AWS::FSx::FileSystem",
    "aws_grafana_workspace": "AWS::Grafana::Workspace",
    "aws_prometheus_workspace": "AWS::APS::Workspace",
}
_READERS: dict[str, Read] = {
    "aws_iam_role": _role,
    "aws_iam_policy": _policy("managed", ""),
    "aws_iam_role_policy": _policy("inline", "role"),
    "aws_sqs_queue": _queue,
    "aws_sqs_queue_policy": _policy("queue", "queue_url"),
    "aws_s3_bucket": _bucket,
    "aws_s3_bucket_policy": _policy("bucket", "bucket"),
    "aws_ecr_repository": _repository,
    "aws_cloudwatch_event_rule": _event_rule,
    "aws_fsx_lustre_file_system": _file_system,
    "aws_fsx_data_repository_association": _linked_folder,
    "aws_placement_group": _placement_group,
    "aws_security_group": _security_group,
    "aws_eks_access_entry": _access_entry,
    "aws_eks_cluster": _control_plane,
    "aws_eks_node_group": _node_group,
    "aws_eks_pod_identity_association": _pod_identity,
}


# --- resources that say something of others

Found = dict[str, list[tuple[Reader, str]]]


def _attached(read: list[CloudResource], found: Found) -> list[CloudResource]:
    """The resources; the roles with the policies that are attached to them."""
    inline = [
        policy for policy in read if isinstance(policy, AccessPolicy) and policy.what == "inline"
    ]
    links = []
    for body, _ in found.get("aws_iam_role_policy_attachment", ()):
        arn = name_at(body / "policy_arn") or ""
        links.append((name_at(body / "role"), arn))
    whole: list[CloudResource] = []
    for resource in read:
        if isinstance(resource, IamRole):
            resource = _with_policies(resource, inline, links)
        whole.append(resource)
    return whole


def _with_policies(
    role: IamRole, inline: list[AccessPolicy], links: list[tuple[str | None, str]]
) -> IamRole:
    names = (role.logical, role.name)
    own = []
    for policy in inline:
        holders = set(policy.holders)
        if not holders.isdisjoint(names):
            own.append(policy)
    managed = [arn for whose, arn in links if whose in names]
    return replace(role, managed=(*role.managed, *managed), inline=tuple(own))


def _whole(resource: CloudResource, found: Found) -> CloudResource:
    """A resource with what others say of it."""
    if isinstance(resource, Bucket):
        return _with_versions(_with_public_access(resource, found), found)
    if isinstance(resource, SecurityGroupStack):
        return _with_rules(resource, found)
    if isinstance(resource, EventRule):
        targets = [
            name_at(body / "arn")
            for body, _ in found.get("aws_cloudwatch_event_target", ())
            if name_at(body / "rule") == resource.logical
        ]
        return replace(resource, targets=tuple(filter(None, targets)))
    if isinstance(resource, AccessEntryStack):
        known = (resource.logical, resource.principal)
        policies = []
        for body, _ in found.get("aws_eks_access_policy_association", ()):
            principal = name_at(body / "principal_arn")
            if principal in known:
                policies.append(text_at(body / "policy_arn"))
        return replace(resource, policies=tuple(filter(None, policies)))
    return resource


def _with_public_access(bucket: Bucket, found: Found) -> Bucket:
    for body, _ in found.get("aws_s3_bucket_public_access_block", ()):
        whose = name_at(body / "bucket")
        if whose not in (bucket.logical, bucket.name):
            continue
        # What this resource leaves out is off (provider's page, aws_s3_bucket_public_access_block).
        said: dict[str, bool] = {}
        for argument, name in _PUBLIC.items():
            flag: bool | None = False
            if body / argument:
                flag = flag_at(body / argument)
            if flag is not None:
                said[name] = flag
        origins = {**bucket.origins, "public_access": body.at}
        return replace(bucket, public_access=said, origins=origins)
    return bucket


def _with_versions(bucket: Bucket, found: Found) -> Bucket:
    for body, _ in found.get("aws_s3_bucket_versioning", ()):
        whose = name_at(body / "bucket")
        if whose not in (bucket.logical, bucket.name):
            continue
        for configuration in several_at(body / "versioning_configuration"):
            return replace(bucket, versioned=text_at(configuration / "status") == "Enabled")
    return bucket


def _with_rules(group: SecurityGroupStack, found: Found) -> SecurityGroupStack:
    rules = list(group.rules)
    closed_out = group.closed_out
    for kind, outgoing in _ALONE.items():
        for body, _ in found.get(kind, ()):
            if name_at(body / "security_group_id") != group.logical:
                continue
            closed_out |= outgoing
            peer = name_at(body / "referenced_security_group_id")
            rules.append(_rule(body, "ip_protocol", peer, outgoing=outgoing))
    for body, _ in found.get("aws_security_group_rule", ()):
        if name_at(body / "security_group_id") != group.logical:
            continue
        outgoing = text_at(body / "type") == "egress"
        closed_out |= outgoing
        peer = name_at(body / "source_security_group_id")
        if flag_at(body / "self"):
            peer = group.logical
        rules.append(_rule(body, "protocol", peer, outgoing=outgoing))
    return replace(group, rules=tuple(rules), closed_out=closed_out)
