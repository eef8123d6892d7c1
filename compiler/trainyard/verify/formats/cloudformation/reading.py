"""The resources of a template as plan items. What a function fills in is unknown; `Ref` and `Fn::GetAtt` give names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from trainyard.catalog import type_regions
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
from trainyard.language.places import Route
from trainyard.lift.launch_templates import (
    Starter,
    joined,
    launch_template,
    starter_of_ec2,
    starter_of_eks,
    template_named,
)
from trainyard.lift.reader import Reader
from trainyard.output.artifact import Artifact
from trainyard.verify.formats.cloudformation.functions import is_call
from trainyard.verify.formats.cloudformation.launches import SPELLING
from trainyard.verify.formats.cloudformation.policies import policy_of, texts_at
from trainyard.verify.formats.cloudformation.values import (
    flag_at,
    name_at,
    names_at,
    text_at,
    unread_of,
)

Read = Callable[[Reader, str], list[CloudResource]]


def nodes(artifact: Artifact) -> list[CloudResource | LaunchTemplate]:
    """The resources of a template whose type is read."""
    template = Reader(artifact.body, Route((artifact.id,)))
    resources = template / "Resources"
    read: list[CloudResource] = []
    templates: list[LaunchTemplate] = []
    starters: list[Starter] = []
    for name, resource in resources.entries():
        kind = resource / "Type"
        properties = resource / "Properties"
        if type_regions.without(kind.word()):
            read.append(
                LimitedResource(
                    at=kind.at, logical=name, kind=kind.word(), region=_region(template, resources)
                )
            )
        reader = _READERS.get(kind.word())
        if reader is not None:
            read += reader(properties, name)
        elif kind.value == "AWS::EC2::LaunchTemplate":
            data = properties / "LaunchTemplateData"
            own_name = properties / "LaunchTemplateName"
            templates.append(launch_template(resource, name, data, own_name, SPELLING))
        elif kind.value == "AWS::AutoScaling::AutoScalingGroup":
            starters.append(starter_of_ec2(properties, name, SPELLING))
    whole = _with_rules(_with_attached(read), resources)
    if not templates:
        return [*whole]
    starters += [starter_of_eks(each) for each in whole if isinstance(each, NodeGroupStack)]
    return [*whole, *joined(templates, starters)]


def _region(template: Reader, resources: Reader) -> str:
    """The Region that a template is for, as far as it says: in its metadata, or by the zones of its subnets."""
    said = (template / "Metadata" / "Region").word()
    if said:
        return said
    zones = [text_at(each / "Properties" / "AvailabilityZone") for _, each in resources.entries()]
    regions = {zone.rstrip("abcdef") for zone in zones if zone and "$" not in zone}
    return regions.pop() if len(regions) == 1 else ""


def _role(body: Reader, logical: str) -> list[CloudResource]:
    managed = body / "ManagedPolicyArns"
    inline = body / "Policies"
    trust = policy_of(body / "AssumeRolePolicyDocument", logical, "trust")
    policies = []
    for item in inline.items():
        name = text_at(item / "PolicyName")
        policy = policy_of(item / "PolicyDocument", logical, "inline", name)
        if policy is not None:
            policies.append(policy)
    names = map(name_at, managed.items())
    role = IamRole(
        at=body.at,
        logical=logical,
        name=text_at(body / "RoleName"),
        trust=trust,
        managed=tuple(name or "" for name in names),
        inline=tuple(policies),
        origins={"name": (body / "RoleName").at, "managed": managed.at, "inline": inline.at},
        unread=unread_of(name=body / "RoleName"),
    )
    if trust is None:
        return [role, *policies]
    return [role, trust, *policies]


def _policy(what: str) -> Read:
    """A policy that is a resource of its own, and attaches itself to roles or is about other resources."""

    def read(body: Reader, logical: str) -> list[CloudResource]:
        name = None
        if what in _NAMES:
            name = text_at(body / _NAMES[what])
        policy = policy_of(body / "PolicyDocument", logical, what, name)
        if policy is None:
            return []
        holders: list[str] = []
        for key in _HOLDERS[what]:
            holders += names_at(body / key)
        return [replace(policy, holders=tuple(holders))]

    return read


_NAMES = {"managed": "ManagedPolicyName", "inline": "PolicyName"}
_HOLDERS = {
    "managed": ("Roles",),
    "inline": ("Roles", "RoleName"),
    "queue": ("Queues",),
    "bucket": ("Bucket",),
}


def _queue(body: Reader, logical: str) -> list[CloudResource]:
    managed = body / "SqsManagedSseEnabled"
    key = body / "KmsMasterKeyId"
    queue = MessageQueue(
        at=body.at,
        logical=logical,
        name=text_at(body / "QueueName"),
        managed_encryption=flag_at(managed),
        key=key.value not in (None, ""),
        retention=(body / "MessageRetentionPeriod").number(),
        origins={"managed_encryption": managed.at, "key": key.at},
        unread=unread_of(managed_encryption=managed),
    )
    return [queue]


def _bucket(body: Reader, logical: str) -> list[CloudResource]:
    block = body / "PublicAccessBlockConfiguration"
    public_access = {}
    for name, value in block.entries():
        flag = flag_at(value)
        if flag is not None:
            public_access[name] = flag
    bucket = Bucket(
        at=body.at,
        logical=logical,
        name=text_at(body / "BucketName"),
        public_access=public_access,
        versioned=_is_versioned(body / "VersioningConfiguration" / "Status"),
        origins={"public_access": block.at, "name": (body / "BucketName").at},
        unread=unread_of(public_access=block),
    )
    return [bucket]


def _is_versioned(status: Reader) -> bool | None:
    """A bucket of which a template says nothing has no versions (AWS::S3::Bucket, VersioningConfiguration)."""
    if is_call(status):
        return None
    return status.word() == "Enabled"


def _linked_folder(body: Reader, logical: str) -> list[CloudResource]:
    place = body / "DataRepositoryPath"
    exports = body.follow("S3", "AutoExportPolicy", "Events")
    folder = LinkedFolder(
        at=body.at,
        logical=logical,
        place=text_at(place),
        exports=exports.texts(),
        origins={"place": place.at, "exports": exports.at},
        unread=unread_of(place=place),
    )
    return [folder]


def _file_system(body: Reader, logical: str) -> list[CloudResource]:
    lustre = body / "LustreConfiguration"
    deployment = lustre / "DeploymentType"
    system = FileSystemStack(
        at=body.at,
        logical=logical,
        kind=text_at(body / "FileSystemType"),
        deployment=text_at(deployment),
        size=(body / "StorageCapacity").number(),
        version=text_at(body / "FileSystemTypeVersion"),
        efa=flag_at(lustre / "EfaEnabled"),
        throughput=(lustre / "PerUnitStorageThroughput").number(),
        backup_days=(lustre / "AutomaticBackupRetentionDays").number(),
        imports=_is_said(lustre / "ImportPath"),
        exports=_is_said(lustre / "ExportPath"),
        origins={
            "deployment": deployment.at,
            "size": (body / "StorageCapacity").at,
            "backup_days": (lustre / "AutomaticBackupRetentionDays").at,
            "imports": (lustre / "ImportPath").at,
            "exports": (lustre / "ExportPath").at,
        },
        unread=unread_of(deployment=deployment, size=body / "StorageCapacity"),
    )
    return [system]


def _repository(body: Reader, logical: str) -> list[CloudResource]:
    mutability = body / "ImageTagMutability"
    scan = body.follow("ImageScanningConfiguration", "ScanOnPush")
    repository = RepositoryStack(
        at=body.at,
        logical=logical,
        name=text_at(body / "RepositoryName"),
        mutability=text_at(mutability),
        scan=flag_at(scan),
        origins={"mutability": mutability.at, "scan": scan.at},
        unread=unread_of(mutability=mutability, scan=scan),
    )
    return [repository]


def _is_said(value: Reader) -> bool:
    """Whether a property certainly has a value: a reference may be to an empty one, or to none."""
    return bool(text_at(value))


def _control_plane(body: Reader, logical: str) -> list[CloudResource]:
    """Without a word the endpoint is public, for every address (AWS::EKS::Cluster, ResourcesVpcConfig)."""
    network = body / "ResourcesVpcConfig"
    public = network / "EndpointPublicAccess"
    blocks = network / "PublicAccessCidrs"
    version = body / "Version"
    cluster = ControlPlane(
        at=body.at,
        logical=logical,
        name=text_at(body / "Name") or logical,
        kubernetes=text_at(version) or "",
        public=flag_at(public) if public else True,
        public_cidrs=texts_at(blocks),
        origins={
            "kubernetes": version.at,
            "public": public.at if public else network.at,
            "public_cidrs": blocks.at,
        },
        unread=unread_of(kubernetes=version, public=network, public_cidrs=blocks),
    )
    return [cluster]


def _node_group(body: Reader, logical: str) -> list[CloudResource]:
    types = body / "InstanceTypes"
    image = body / "AmiType"
    group = NodeGroupStack(
        at=body.at,
        logical=logical,
        instance_types=tuple(filter(None, texts_at(types))),
        ami_type=text_at(image),
        template=bool(body / "LaunchTemplate"),
        template_name=template_named(body / "LaunchTemplate", SPELLING),
        origins={"instance_types": types.at, "ami_type": image.at},
        unread=unread_of(instance_types=types, ami_type=image),
    )
    return [group]


def _event_rule(body: Reader, logical: str) -> list[CloudResource]:
    pattern = body / "EventPattern"
    entries = (body / "Targets").items()
    targets = [name_at(target / "Arn") for target in entries]
    rule = EventRule(
        at=body.at,
        logical=logical,
        detail_types=(pattern / "detail-type").texts(),
        targets=tuple(filter(None, targets)),
    )
    return [rule]


def _placement_group(body: Reader, logical: str) -> list[CloudResource]:
    group = PlacementGroupStack(at=body.at, logical=logical, strategy=text_at(body / "Strategy"))
    return [group]


def _access_entry(body: Reader, logical: str) -> list[CloudResource]:
    attached = (body / "AccessPolicies").items()
    policies = [text_at(policy / "PolicyArn") for policy in attached]
    entry = AccessEntryStack(
        at=body.at,
        logical=logical,
        cluster=name_at(body / "ClusterName"),
        principal=name_at(body / "PrincipalArn"),
        kind=text_at(body / "Type"),
        groups=names_at(body / "KubernetesGroups"),
        policies=tuple(filter(None, policies)),
        origins={"groups": (body / "KubernetesGroups").at},
    )
    return [entry]


def _pod_identity(body: Reader, logical: str) -> list[CloudResource]:
    association = PodIdentityStack(
        at=body.at,
        logical=logical,
        cluster=name_at(body / "ClusterName"),
        namespace=text_at(body / "Namespace"),
        service_account=text_at(body / "ServiceAccount"),
        role=name_at(body / "RoleArn"),
    )
    return [association]


def _security_group(body: Reader, logical: str) -> list[CloudResource]:
    into = body / "SecurityGroupIngress"
    out = body / "SecurityGroupEgress"
    rules = [_rule(rule, outgoing=False) for rule in into.items()]
    rules += [_rule(rule, outgoing=True) for rule in out.items()]
    group = SecurityGroupStack(
        at=body.at,
        logical=logical,
        name=text_at(body / "GroupName"),
        description=text_at(body / "GroupDescription"),
        rules=tuple(rules),
        closed_out=bool(out),
        unread=_unread_rules(into, out),
    )
    return [group]


def _unread_rules(*values: Reader) -> frozenset[str]:
    """Whether a function gives rules, or what they let through."""
    for value in values:
        if is_call(value.value):
            return frozenset({"rules"})
        for rule in value.items():
            if is_call(rule.value) or any(is_call((rule / key).value) for key in _PORTS):
                return frozenset({"rules"})
    return frozenset()


_PORTS = ("IpProtocol", "FromPort", "ToPort")
_PEERS = {False: "SourceSecurityGroupId", True: "DestinationSecurityGroupId"}
_RULES = {"AWS::EC2::SecurityGroupIngress": False, "AWS::EC2::SecurityGroupEgress": True}
"""The types of rules that stand alone, and whether they are of what leaves."""


def _rule(body: Reader, *, outgoing: bool) -> SecurityRule:
    protocol = body / "IpProtocol"
    return SecurityRule(
        outgoing,
        str(protocol.value) if protocol else None,
        (body / "FromPort").number(),
        (body / "ToPort").number(),
        name_at(body / _PEERS[outgoing]),
        body.at,
    )


def _with_rules(read: list[CloudResource], resources: Reader) -> list[CloudResource]:
    """The resources; the security groups with the rules of the template that name them."""
    if not any(isinstance(resource, SecurityGroupStack) for resource in read):
        return read
    alone: list[tuple[Reader, bool]] = []
    for _, resource in resources.entries():
        kind = (resource / "Type").word()
        if kind in _RULES:
            properties = resource / "Properties"
            alone.append((properties, _RULES[kind]))
    whole: list[CloudResource] = []
    for known in read:
        if isinstance(known, SecurityGroupStack):
            known = _with_own(known, alone)
        whole.append(known)
    return whole


def _with_own(group: SecurityGroupStack, alone: list[tuple[Reader, bool]]) -> SecurityGroupStack:
    rules = list(group.rules)
    unread = group.unread
    closed_out = group.closed_out
    for body, outgoing in alone:
        if name_at(body / "GroupId") != group.logical:
            continue
        rules.append(_rule(body, outgoing=outgoing))
        closed_out |= outgoing
        ports = [(body / key).value for key in _PORTS]
        if any(is_call(port) for port in ports):
            unread |= {"rules"}
    return replace(group, rules=tuple(rules), closed_out=closed_out, unread=unread)


_READERS: dict[str, Read] = {
    "AWS::IAM::Role": _role,
    "AWS::IAM::ManagedPolicy": _policy("managed"),
    "AWS::IAM::Policy": _policy("inline"),
    "AWS::IAM::RolePolicy": _policy("inline"),
    "AWS::SQS::Queue": _queue,
    "AWS::SQS::QueuePolicy": _policy("queue"),
    "AWS::S3::Bucket": _bucket,
    "AWS::S3::BucketPolicy": _policy("bucket"),
    "AWS::ECR::Repository": _repository,
    "AWS::Events::Rule": _event_rule,
    "AWS::FSx::FileSystem": _file_system,
    "AWS::FSx::DataRepositoryAssociation": _linked_folder,
    "AWS::EC2::PlacementGroup": _placement_group,
    "AWS::EC2::SecurityGroup": _security_group,
    "AWS::EKS::AccessEntry": _access_entry,
    "AWS::EKS::Cluster": _control_plane,
    "AWS::EKS::Nodegroup": _node_group,
    "AWS::EKS::PodIdentityAssociation": _pod_identity,
}
TYPES = frozenset(_READERS)
"""The types that are read."""


def _with_attached(resources: list[CloudResource]) -> list[CloudResource]:
    """The resources; the roles with the policies that attach themselves to them."""
    policies = [
        policy
        for policy in resources
        if isinstance(policy, AccessPolicy) and policy.gives_rights and policy.holders
    ]
    if not policies:
        return resources
    attached: list[CloudResource] = []
    for resource in resources:
        if isinstance(resource, IamRole):
            resource = _with_policies(resource, policies)
        attached.append(resource)
    return attached


def _with_policies(role: IamRole, policies: list[AccessPolicy]) -> IamRole:
    managed = list(role.managed)
    inline = list(role.inline)
    for policy in policies:
        holders = set(policy.holders)
        holds = not holders.isdisjoint((role.logical, role.name))
        if not holds:
            continue
        if policy.what == "inline":
            inline.append(policy)
            continue
        is_attached = policy.logical in role.managed
        if policy.what == "managed" and not is_attached:
            managed.append(policy.logical)
    return replace(role, managed=tuple(managed), inline=tuple(inline))
