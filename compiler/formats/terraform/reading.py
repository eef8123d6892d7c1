"""The resources of a module as plan nodes: those that a template of CloudFormation is read into.

A resource's logical name is its address (`aws_iam_role.nodes`). What an expression gives is unknown: it is left out,
and its field is among the node's ``unread``; a reference gives the address of what it is to.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from compiler.core.cloud.plan import (
    AccessEntryStack,
    AccessPolicy,
    Bucket,
    CloudResource,
    EventRule,
    FileSystemStack,
    IamRole,
    MessageQueue,
    NodeGroupStack,
    PlacementGroupStack,
    PodIdentityStack,
    RepositoryStack,
    SecurityGroupStack,
    SecurityRule,
    Statement,
)
from compiler.formats.cloudformation.grammar import length, statements
from compiler.formats.terraform.faults import resources
from compiler.lift.reader import Reader
from compiler.output.artifact import Artifact
from compiler.places import Route

_WHOLE = re.compile(r"\$\{[^{}]*\}\Z")
_TO = re.compile(r"\$\{((?:data\.)?aws_\w+\.[\w-]+)(?:\[[^\]]*\])?\.\w+\}\Z")
_PUBLIC = {
    "block_public_acls": "BlockPublicAcls",
    "block_public_policy": "BlockPublicPolicy",
    "ignore_public_acls": "IgnorePublicAcls",
    "restrict_public_buckets": "RestrictPublicBuckets",
}
Read = Callable[[Reader, str], list[CloudResource]]


def nodes(artifact: Artifact) -> list[CloudResource]:
    """The resources of a module whose type is read."""
    module = Reader(artifact.body, Route((artifact.id,)))
    found: dict[str, list[tuple[Reader, str]]] = {}
    for place, kind, _ in resources(artifact.body):
        body = module.follow(*place)
        address = f"{kind}.{place[2]}"
        found.setdefault(kind, []).append((body, address))
    read: list[CloudResource] = []
    for kind, reader in _READERS.items():
        for body, address in found.get(kind, ()):
            read += reader(body, address)
    attached = _attached(read, found)
    return [_whole(resource, found) for resource in attached]


def _text(value: Reader) -> str | None:
    """A text that is known; one with an expression within is, with its `${}`."""
    text = value.text()
    if text is None or _WHOLE.match(text):
        return None
    return text.replace("$${", "${").replace("%%{", "%{")


def _name(value: Reader) -> str | None:
    """A text, or the address of what it refers to."""
    match = _TO.match(value.word())
    if match:
        return match[1]
    return _text(value)


def _texts(value: Reader) -> tuple[str, ...]:
    texts = map(_text, _several(value))
    return tuple(text or "" for text in texts)


def _several(value: Reader) -> list[Reader]:
    """The items of a list, or the one value that stands for a list."""
    if isinstance(value.value, list):
        return value.items()
    return [value] if value else []


def _flag(value: Reader) -> bool | None:
    if isinstance(value.value, str):
        return {"true": True, "false": False}.get(value.value)
    return value.flag()


def _unread(**fields: Reader) -> frozenset[str]:
    filled = []
    for name, field in fields.items():
        is_filled = _is_filled(field.value)
        if is_filled:
            filled.append(name)
    return frozenset(filled)


def _is_filled(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    return "${" in value.replace("$${", "")


def _policy_of(
    value: Reader, logical: str, what: str, name: str | None = None
) -> AccessPolicy | None:
    """A policy, which is JSON in a text; ``None`` where an expression makes it."""
    try:
        body = json.loads(value.word())
    except ValueError:
        return None
    if not isinstance(body, dict):
        return None
    read = []
    for path, written in statements(body):
        place = Route((*value.at, *path))
        statement = _statement(Reader(written, place))
        # No place in a text is known.
        read.append(replace(statement, at=value.at, origins={}))
    return AccessPolicy(
        at=value.at,
        logical=logical,
        what=what,
        name=name,
        statements=tuple(read),
        characters=_characters(value.word()),
    )


def _characters(text: str) -> int:
    """At least how many characters IAM counts: no white space, and nothing of what an expression gives."""
    without = re.sub(r"(?<!\$)\$\{[^{}]*\}", "", text)
    return length(json.loads(without))


def _has_filled(values: Reader) -> bool:
    items = _several(values)
    return any(_is_filled(item.value) for item in items)


def _statement(body: Reader) -> Statement:
    principal = body / "Principal"
    fields = {
        "actions": body / "Action",
        "not_actions": body / "NotAction",
        "resources": body / "Resource",
        "not_resources": body / "NotResource",
    }
    given = fields.items()
    unread = {name for name, field in given if _has_filled(field)}
    conditions = {
        operator: tuple(keys.mapping()) for operator, keys in (body / "Condition").entries()
    }
    return Statement(
        at=body.at,
        effect=(body / "Effect").text(),
        actions=_texts(fields["actions"]),
        not_actions=_texts(fields["not_actions"]),
        resources=_texts(fields["resources"]),
        not_resources=_texts(fields["not_resources"]),
        principals=_principals(principal),
        not_principals=bool(body / "NotPrincipal"),
        conditions=conditions,
        unread=frozenset(unread),
    )


def _principals(value: Reader) -> dict[str, tuple[str, ...]]:
    if value.text() is not None:
        return {value.word(): (value.word(),)}
    kinds = value.entries()
    return {kind: _texts(names) for kind, names in kinds}


def _role(body: Reader, address: str) -> list[CloudResource]:
    trust = _policy_of(body / "assume_role_policy", address, "trust")
    managed = body / "managed_policy_arns"
    names = map(_name, managed.items())
    role = IamRole(
        at=body.at,
        logical=address,
        name=_text(body / "name"),
        trust=trust,
        managed=tuple(name or "" for name in names),
        origins={"name": (body / "name").at, "managed": managed.at, "inline": body.at},
        unread=_unread(name=body / "name"),
    )
    if trust is None:
        return [role]
    return [role, trust]


def _policy(what: str, holder: str) -> Read:
    """A policy that is a resource of its own; ``holder`` is the argument that says whose."""

    def read(body: Reader, address: str) -> list[CloudResource]:
        name = None
        if what in ("managed", "inline"):
            name = _text(body / "name")
        policy = _policy_of(body / "policy", address, what, name)
        if policy is None:
            return []
        if holder:
            whose = _name(body / holder)
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
        name=_text(body / "name"),
        managed_encryption=_flag(managed),
        key=key.value not in (None, ""),
        retention=(body / "message_retention_seconds").number(),
        origins={"managed_encryption": managed.at, "key": key.at},
        unread=_unread(managed_encryption=managed),
    )
    return [queue]


def _bucket(body: Reader, address: str) -> list[CloudResource]:
    name = body / "bucket"
    bucket = Bucket(
        at=body.at,
        logical=address,
        name=_text(name),
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
        deployment=_text(deployment),
        size=size.number(),
        version=_text(body / "file_system_type_version"),
        efa=_flag(body / "efa_enabled"),
        throughput=(body / "per_unit_storage_throughput").number(),
        backup_days=backups.number(),
        imports=bool(_text(imports)),
        exports=bool(_text(exports)),
        origins={
            "deployment": deployment.at,
            "size": size.at,
            "backup_days": backups.at,
            "imports": imports.at,
            "exports": exports.at,
        },
        unread=_unread(deployment=deployment, size=size),
    )
    return [system]


def _repository(body: Reader, address: str) -> list[CloudResource]:
    mutability = body / "image_tag_mutability"
    scanning = _several(body / "image_scanning_configuration")
    configuration = body / "image_scanning_configuration"
    if scanning:
        configuration = scanning[0]
    scan = configuration / "scan_on_push"
    repository = RepositoryStack(
        at=body.at,
        logical=address,
        name=_text(body / "name"),
        mutability=_text(mutability),
        scan=_flag(scan),
        origins={"mutability": mutability.at, "scan": scan.at},
        unread=_unread(mutability=mutability, scan=scan),
    )
    return [repository]


def _node_group(body: Reader, address: str) -> list[CloudResource]:
    types = body / "instance_types"
    image = body / "ami_type"
    group = NodeGroupStack(
        at=body.at,
        logical=address,
        instance_types=tuple(filter(None, _texts(types))),
        ami_type=_text(image),
        template=bool(body / "launch_template"),
        origins={"instance_types": types.at, "ami_type": image.at},
        unread=_unread(instance_types=types, ami_type=image),
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
    strategy = _text(body / "strategy")
    return [PlacementGroupStack(at=body.at, logical=address, strategy=strategy)]


def _access_entry(body: Reader, address: str) -> list[CloudResource]:
    groups = body / "kubernetes_groups"
    entry = AccessEntryStack(
        at=body.at,
        logical=address,
        cluster=_name(body / "cluster_name"),
        principal=_name(body / "principal_arn"),
        kind=_text(body / "type"),
        groups=tuple(filter(None, map(_name, _several(groups)))),
        origins={"groups": groups.at},
    )
    return [entry]


def _pod_identity(body: Reader, address: str) -> list[CloudResource]:
    association = PodIdentityStack(
        at=body.at,
        logical=address,
        cluster=_name(body / "cluster_name"),
        namespace=_text(body / "namespace"),
        service_account=_text(body / "service_account"),
        role=_name(body / "role_arn"),
    )
    return [association]


def _security_group(body: Reader, address: str) -> list[CloudResource]:
    into = _several(body / "ingress")
    out = _several(body / "egress")
    rules = [_rule_within(rule, address, outgoing=False) for rule in into]
    rules += [_rule_within(rule, address, outgoing=True) for rule in out]
    texts = [(body / key).value for key in ("ingress", "egress")]
    is_filled = any(_is_filled(text) for text in texts)
    is_dynamic = bool(body / "dynamic")
    group = SecurityGroupStack(
        at=body.at,
        logical=address,
        name=_text(body / "name"),
        description=_text(body / "description"),
        rules=tuple(rules),
        closed_out=bool(body / "egress"),
        unread=frozenset({"rules"}) if is_filled or is_dynamic else frozenset(),
    )
    return [group]


def _rule_within(body: Reader, address: str, *, outgoing: bool) -> SecurityRule:
    peers = _several(body / "security_groups")
    if _flag(body / "self"):
        peer = address
    else:
        peer = None
    if peer is None and peers:
        peer = _name(peers[0])
    return _rule(body, "protocol", peer, outgoing=outgoing)


def _rule(body: Reader, protocol: str, peer: str | None, *, outgoing: bool) -> SecurityRule:
    """A rule, whose protocol has two names in the provider."""
    return SecurityRule(
        outgoing,
        _text(body / protocol),
        (body / "from_port").number(),
        (body / "to_port").number(),
        peer,
        body.at,
    )


_ALONE = {"aws_vpc_security_group_ingress_rule": False, "aws_vpc_security_group_egress_rule": True}
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
    "aws_placement_group": _placement_group,
    "aws_security_group": _security_group,
    "aws_eks_access_entry": _access_entry,
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
        arn = _name(body / "policy_arn") or ""
        links.append((_name(body / "role"), arn))
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
        return _with_public_access(resource, found)
    if isinstance(resource, SecurityGroupStack):
        return _with_rules(resource, found)
    if isinstance(resource, EventRule):
        targets = [
            _name(body / "arn")
            for body, _ in found.get("aws_cloudwatch_event_target", ())
            if _name(body / "rule") == resource.logical
        ]
        return replace(resource, targets=tuple(filter(None, targets)))
    if isinstance(resource, AccessEntryStack):
        known = (resource.logical, resource.principal)
        policies = []
        for body, _ in found.get("aws_eks_access_policy_association", ()):
            principal = _name(body / "principal_arn")
            if principal in known:
                policies.append(_text(body / "policy_arn"))
        return replace(resource, policies=tuple(filter(None, policies)))
    return resource


def _with_public_access(bucket: Bucket, found: Found) -> Bucket:
    for body, _ in found.get("aws_s3_bucket_public_access_block", ()):
        whose = _name(body / "bucket")
        if whose not in (bucket.logical, bucket.name):
            continue
        # What this resource leaves out is off (provider's page, aws_s3_bucket_public_access_block).
        said: dict[str, bool] = {}
        for argument, name in _PUBLIC.items():
            flag: bool | None = False
            if body / argument:
                flag = _flag(body / argument)
            if flag is not None:
                said[name] = flag
        origins = {**bucket.origins, "public_access": body.at}
        return replace(bucket, public_access=said, origins=origins)
    return bucket


def _with_rules(group: SecurityGroupStack, found: Found) -> SecurityGroupStack:
    rules = list(group.rules)
    closed_out = group.closed_out
    for kind, outgoing in _ALONE.items():
        for body, _ in found.get(kind, ()):
            if _name(body / "security_group_id") != group.logical:
                continue
            closed_out |= outgoing
            peer = _name(body / "referenced_security_group_id")
            rules.append(_rule(body, "ip_protocol", peer, outgoing=outgoing))
    for body, _ in found.get("aws_security_group_rule", ()):
        if _name(body / "security_group_id") != group.logical:
            continue
        outgoing = _text(body / "type") == "egress"
        closed_out |= outgoing
        peer = _name(body / "source_security_group_id")
        if _flag(body / "self"):
            peer = group.logical
        rules.append(_rule(body, "protocol", peer, outgoing=outgoing))
    return replace(group, rules=tuple(rules), closed_out=closed_out)
