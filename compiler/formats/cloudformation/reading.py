"""The resources of a template as plan nodes. What a function fills in is unknown; `Ref` and `Fn::GetAtt` give names."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
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
from compiler.formats.cloudformation.functions import is_call, name_of, text_of
from compiler.formats.cloudformation.grammar import length, statements
from compiler.lift.reader import Reader
from compiler.output.artifact import Artifact
from compiler.output.body import walk_mappings
from compiler.places import Route

_FLAGS = {"true": True, "false": False}
Read = Callable[[Reader, str], list[CloudResource]]


def nodes(artifact: Artifact) -> list[CloudResource]:
    """The resources of a template whose type is read."""
    template = Reader(artifact.body, Route((artifact.id,)))
    resources = template / "Resources"
    read: list[CloudResource] = []
    for name, resource in resources.entries():
        reader = _READERS.get((resource / "Type").word())
        if reader is not None:
            read += reader(resource / "Properties", name)
    return _with_rules(_with_attached(read), resources)


def _text(value: Reader) -> str | None:
    return text_of(value.value)


def _name(value: Reader) -> str | None:
    """A text, or the logical name of what it refers to."""
    return name_of(value.value)


def _names(values: Reader) -> tuple[str, ...]:
    names = map(name_of, _several(values.value))
    return tuple(filter(None, names))


def _several(value: Any) -> list[Any]:
    """The items of a list, or the one value that stands for a list."""
    if isinstance(value, list):
        return value
    if value is None:
        return []
    return [value]


def _flag(value: Reader) -> bool | None:
    """A boolean, which CloudFormation takes as a text too."""
    if isinstance(value.value, str):
        return _FLAGS.get(value.value.lower())
    return value.flag()


def _unread(**fields: Reader) -> frozenset[str]:
    """The names of the fields that a function fills in, wholly or in part."""
    unread = []
    for name, field in fields.items():
        is_filled_in = _is_filled_in(field.value)
        if is_filled_in:
            unread.append(name)
    return frozenset(unread)


def _is_filled_in(value: Any) -> bool:
    """Whether a function gives a value, or a part of it."""
    if value is None or isinstance(value, str):
        return False
    inside = walk_mappings(value, stop=is_call)
    parts = (part for _, part in inside)
    filled = (part for part in parts if is_call(part))
    return any(text_of(part) is None for part in filled)


def _policy_of(
    value: Reader, logical: str, what: str, name: str | None = None
) -> AccessPolicy | None:
    """A policy: a mapping, or JSON in a text, whose parts all stand at the text; ``None`` where it is unknown."""
    body = value.value
    in_text = isinstance(body, str)
    if in_text:
        try:
            body = json.loads(body)
        except ValueError:
            return None
    if not isinstance(body, dict) or is_call(body):
        return None
    read = []
    for path, written in statements(body):
        place = Route((*value.at, *path))
        statement = _statement(Reader(written, place))
        if in_text:  # no place in it is known
            statement = replace(statement, at=value.at, origins={})
        read.append(statement)
    return AccessPolicy(
        at=value.at,
        logical=logical,
        what=what,
        name=name,
        statements=tuple(read),
        characters=characters(body),
    )


def characters(body: Any) -> int:
    """At least how many characters IAM counts of a policy: no white space, and nothing of what a function fills in."""
    return length(_known(body))


def _known(value: Any) -> Any:
    if is_call(value):
        return _without_names(text_of(value) or "")
    if isinstance(value, dict):
        items = value.items()
        return {key: _known(item) for key, item in items}
    if isinstance(value, list):
        return [_known(item) for item in value]
    return value


def _without_names(text: str) -> str:
    """The text of ``Fn::Sub`` without what is put into it."""
    first, *rest = text.split("${")
    after = [part.partition("}") for part in rest]
    return first + "".join(text for _, _, text in after)


def _statement(body: Reader) -> Statement:
    action = body / "Action"
    not_action = body / "NotAction"
    resource = body / "Resource"
    not_resource = body / "NotResource"
    principal = body / "Principal"
    condition = body / "Condition"
    unread = _unread(
        effect=body / "Effect", actions=action, resources=resource, principals=principal
    )
    if is_call(condition.value):
        unread |= {"conditions"}
    conditions = {}
    for operator, keys in condition.entries():
        names = keys.mapping()
        conditions[operator] = tuple(names)
    return Statement(
        at=body.at,
        effect=(body / "Effect").text(),
        actions=_texts(action),
        not_actions=_texts(not_action),
        resources=_texts(resource),
        not_resources=_texts(not_resource),
        principals=_principals(principal),
        not_principals=bool(body / "NotPrincipal"),
        conditions=conditions,
        origins={
            "actions": action.at,
            "not_actions": not_action.at,
            "resources": resource.at,
            "not_resources": not_resource.at,
            "principals": principal.at,
            "conditions": condition.at,
        },
        unread=unread,
    )


def _texts(value: Reader) -> tuple[str, ...]:
    """The texts of a list, or the one that stands for a list; of what is unknown an empty one, so that places stay."""
    texts = map(text_of, _several(value.value))
    return tuple(text or "" for text in texts)


def _principals(value: Reader) -> Mapping[str, tuple[str, ...]]:
    if value.text() is not None:
        return {value.word(): (value.word(),)}
    if is_call(value.value):
        return {}
    kinds = value.entries()
    return {kind: _texts(names) for kind, names in kinds}


def _role(body: Reader, logical: str) -> list[CloudResource]:
    managed = body / "ManagedPolicyArns"
    inline = body / "Policies"
    trust = _policy_of(body / "AssumeRolePolicyDocument", logical, "trust")
    policies = []
    for item in inline.items():
        name = _text(item / "PolicyName")
        policy = _policy_of(item / "PolicyDocument", logical, "inline", name)
        if policy is not None:
            policies.append(policy)
    names = map(_name, managed.items())
    role = IamRole(
        at=body.at,
        logical=logical,
        name=_text(body / "RoleName"),
        trust=trust,
        managed=tuple(name or "" for name in names),
        inline=tuple(policies),
        origins={"name": (body / "RoleName").at, "managed": managed.at, "inline": inline.at},
        unread=_unread(name=body / "RoleName"),
    )
    if trust is None:
        return [role, *policies]
    return [role, trust, *policies]


def _policy(what: str) -> Read:
    """A policy that is a resource of its own, and attaches itself to roles or is about other resources."""

    def read(body: Reader, logical: str) -> list[CloudResource]:
        name = None
        if what in _NAMES:
            name = _text(body / _NAMES[what])
        policy = _policy_of(body / "PolicyDocument", logical, what, name)
        if policy is None:
            return []
        holders: list[str] = []
        for key in _HOLDERS[what]:
            holders += _names(body / key)
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
        name=_text(body / "QueueName"),
        managed_encryption=_flag(managed),
        key=key.value not in (None, ""),
        retention=(body / "MessageRetentionPeriod").number(),
        origins={"managed_encryption": managed.at, "key": key.at},
        unread=_unread(managed_encryption=managed),
    )
    return [queue]


def _bucket(body: Reader, logical: str) -> list[CloudResource]:
    block = body / "PublicAccessBlockConfiguration"
    public_access = {}
    for name, value in block.entries():
        flag = _flag(value)
        if flag is not None:
            public_access[name] = flag
    bucket = Bucket(
        at=body.at,
        logical=logical,
        name=_text(body / "BucketName"),
        public_access=public_access,
        origins={"public_access": block.at, "name": (body / "BucketName").at},
        unread=_unread(public_access=block),
    )
    return [bucket]


def _file_system(body: Reader, logical: str) -> list[CloudResource]:
    lustre = body / "LustreConfiguration"
    deployment = lustre / "DeploymentType"
    system = FileSystemStack(
        at=body.at,
        logical=logical,
        kind=_text(body / "FileSystemType"),
        deployment=_text(deployment),
        size=(body / "StorageCapacity").number(),
        version=_text(body / "FileSystemTypeVersion"),
        efa=_flag(lustre / "EfaEnabled"),
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
        unread=_unread(deployment=deployment, size=body / "StorageCapacity"),
    )
    return [system]


def _repository(body: Reader, logical: str) -> list[CloudResource]:
    mutability = body / "ImageTagMutability"
    scan = body.follow("ImageScanningConfiguration", "ScanOnPush")
    repository = RepositoryStack(
        at=body.at,
        logical=logical,
        name=_text(body / "RepositoryName"),
        mutability=_text(mutability),
        scan=_flag(scan),
        origins={"mutability": mutability.at, "scan": scan.at},
        unread=_unread(mutability=mutability, scan=scan),
    )
    return [repository]


def _is_said(value: Reader) -> bool:
    """Whether a property certainly has a value: a reference may be to an empty one, or to none."""
    return bool(_text(value))


def _node_group(body: Reader, logical: str) -> list[CloudResource]:
    types = body / "InstanceTypes"
    image = body / "AmiType"
    group = NodeGroupStack(
        at=body.at,
        logical=logical,
        instance_types=tuple(filter(None, _texts(types))),
        ami_type=_text(image),
        template=bool(body / "LaunchTemplate"),
        origins={"instance_types": types.at, "ami_type": image.at},
        unread=_unread(instance_types=types, ami_type=image),
    )
    return [group]


def _event_rule(body: Reader, logical: str) -> list[CloudResource]:
    pattern = body / "EventPattern"
    entries = (body / "Targets").items()
    targets = [_name(target / "Arn") for target in entries]
    rule = EventRule(
        at=body.at,
        logical=logical,
        detail_types=(pattern / "detail-type").texts(),
        targets=tuple(filter(None, targets)),
    )
    return [rule]


def _placement_group(body: Reader, logical: str) -> list[CloudResource]:
    group = PlacementGroupStack(at=body.at, logical=logical, strategy=_text(body / "Strategy"))
    return [group]


def _access_entry(body: Reader, logical: str) -> list[CloudResource]:
    attached = (body / "AccessPolicies").items()
    policies = [_text(policy / "PolicyArn") for policy in attached]
    entry = AccessEntryStack(
        at=body.at,
        logical=logical,
        cluster=_name(body / "ClusterName"),
        principal=_name(body / "PrincipalArn"),
        kind=_text(body / "Type"),
        groups=_names(body / "KubernetesGroups"),
        policies=tuple(filter(None, policies)),
        origins={"groups": (body / "KubernetesGroups").at},
    )
    return [entry]


def _pod_identity(body: Reader, logical: str) -> list[CloudResource]:
    association = PodIdentityStack(
        at=body.at,
        logical=logical,
        cluster=_name(body / "ClusterName"),
        namespace=_text(body / "Namespace"),
        service_account=_text(body / "ServiceAccount"),
        role=_name(body / "RoleArn"),
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
        name=_text(body / "GroupName"),
        description=_text(body / "GroupDescription"),
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
        _name(body / _PEERS[outgoing]),
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
        if _name(body / "GroupId") != group.logical:
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
    "AWS::EC2::PlacementGroup": _placement_group,
    "AWS::EC2::SecurityGroup": _security_group,
    "AWS::EKS::AccessEntry": _access_entry,
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
