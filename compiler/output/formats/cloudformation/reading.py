"""The resources of a template as plan nodes. What a function fills in is unknown; `Ref` and `Fn::GetAtt` give names."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from compiler.lift.reader import Reader
from compiler.output.artifact import Artifact
from compiler.output.body import walk_values
from compiler.output.formats.cloudformation.functions import is_call, named, text_of
from compiler.output.formats.cloudformation.grammar import statements
from compiler.source import Route
from compiler.subjects.cloud.plan import (
    AccessEntryStack,
    AccessPolicy,
    Bucket,
    CloudResource,
    EventRule,
    IamRole,
    MessageQueue,
    PlacementGroupStack,
    PodIdentityStack,
    Statement,
)

_FLAGS = {"true": True, "false": False}
Read = Callable[[Reader, str], list[CloudResource]]


def nodes(artifact: Artifact) -> list[CloudResource]:
    """The resources of a template whose type is read."""
    resources = Reader(artifact.body, Route((artifact.id,))) / "Resources"
    found: list[CloudResource] = []
    for name, resource in resources.entries():
        read = _READERS.get((resource / "Type").word())
        if read is not None:
            found += read(resource / "Properties", name)
    return _attached(found)


def _text(value: Reader) -> str | None:
    return text_of(value.value)


def _name(value: Reader) -> str | None:
    """A text, or the logical name of what it refers to."""
    return named(value.value)


def _names(values: Reader) -> tuple[str, ...]:
    return tuple(name for each in _several(values) if (name := _name(each)))


def _several(value: Reader) -> list[Reader]:
    """The items of a list, or the one value that stands for a list."""
    if isinstance(value.value, list):
        return value.items()
    return [value] if value else []


def _flag(value: Reader) -> bool | None:
    """A boolean, which CloudFormation takes as a text too."""
    if isinstance(value.value, str):
        return _FLAGS.get(value.value.lower())
    return value.flag()


def _integer(value: Reader) -> int | None:
    text = value.text()
    if text is not None and text.isdigit():
        return int(text)
    return value.integer()


def _unread(**fields: Reader) -> frozenset[str]:
    """The names of the fields that a function fills in, wholly or in part."""
    return frozenset(name for name, value in fields.items() if _filled(value.value))


def _filled(value: Any) -> bool:
    parts = (part for _, part in walk_values(value, stop=is_call))
    return any(is_call(part) and text_of(part) is None for part in parts)


def _policy_of(
    value: Reader, logical: str, what: str, name: str | None = None
) -> AccessPolicy | None:
    """A policy: a mapping, or JSON in a text, whose parts all stand at the text; ``None`` where it is unknown."""
    body, inside = value.value, True
    if isinstance(body, str):
        try:
            body, inside = json.loads(body), False
        except ValueError:
            return None
    if not isinstance(body, dict) or is_call(body):
        return None
    found = []
    for path, statement in statements(body):
        place = Route((*value.at, *path)) if inside else value.at
        read = _statement(Reader(statement, place))
        found.append(read if inside else _at_once(read, value.at))
    return AccessPolicy(
        at=value.at,
        logical=logical,
        what=what,
        name=name,
        statements=tuple(found),
        characters=characters(body),
    )


def _at_once(statement: Statement, at: Route) -> Statement:
    """A statement inside a text: no place in it is known."""
    return replace(statement, at=at, origins={})


def characters(body: Any) -> int:
    """At least how many characters IAM counts of a policy: no white space, and nothing of what a function fills in."""
    return len("".join(json.dumps(_known(body), separators=(",", ":")).split()))


def _known(value: Any) -> Any:
    if is_call(value):
        return _without_names(text_of(value) or "")
    if isinstance(value, dict):
        return {key: _known(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_known(item) for item in value]
    return value


def _without_names(text: str) -> str:
    """The text of ``Fn::Sub`` without what is put into it."""
    parts = text.split("${")
    return parts[0] + "".join(part.partition("}")[2] for part in parts[1:])


def _statement(body: Reader) -> Statement:
    action, not_action = body / "Action", body / "NotAction"
    resource, not_resource = body / "Resource", body / "NotResource"
    condition = body / "Condition"
    return Statement(
        at=body.at,
        effect=(body / "Effect").text(),
        actions=_texts(action),
        not_actions=_texts(not_action),
        resources=_texts(resource),
        not_resources=_texts(not_resource),
        principals=_principals(body / "Principal"),
        not_principals=bool(body / "NotPrincipal"),
        conditions={
            operator: tuple(keys.mapping()) for operator, keys in condition.entries()
        },
        origins={
            "actions": action.at,
            "not_actions": not_action.at,
            "resources": resource.at,
            "not_resources": not_resource.at,
            "principals": (body / "Principal").at,
            "conditions": condition.at,
        },
        unread=_unread(
            effect=body / "Effect",
            actions=action,
            resources=resource,
            principals=body / "Principal",
        )
        | (frozenset(("conditions",)) if is_call(condition.value) else frozenset()),
    )


def _texts(value: Reader) -> tuple[str, ...]:
    """The texts of a list, or the one that stands for a list; of what is unknown an empty one, so that places stay."""
    return tuple(_text(each) or "" for each in _several(value))


def _principals(value: Reader) -> Mapping[str, tuple[str, ...]]:
    if value.text() is not None:
        return {value.word(): (value.word(),)}
    if is_call(value.value):
        return {}
    return {kind: _texts(each) for kind, each in value.entries()}


def _role(body: Reader, logical: str) -> list[CloudResource]:
    managed, inline = body / "ManagedPolicyArns", body / "Policies"
    trust = _policy_of(body / "AssumeRolePolicyDocument", logical, "trust")
    policies = []
    for each in inline.items():
        name = _text(each / "PolicyName")
        policy = _policy_of(each / "PolicyDocument", logical, "inline", name)
        if policy is not None:
            policies.append(policy)
    role = IamRole(
        at=body.at,
        logical=logical,
        name=_text(body / "RoleName"),
        trust=trust,
        managed=tuple(_name(each) or "" for each in managed.items()),
        inline=tuple(policies),
        origins={
            "name": (body / "RoleName").at,
            "managed": managed.at,
            "inline": inline.at,
        },
        unread=_unread(name=body / "RoleName"),
    )
    return [role, *([trust] if trust is not None else []), *policies]


def _policy(what: str) -> Read:
    """A policy that is a resource of its own, and attaches itself to roles or is about other resources."""

    def read(body: Reader, logical: str) -> list[CloudResource]:
        name = _text(body / _NAMES[what]) if what in _NAMES else None
        policy = _policy_of(body / "PolicyDocument", logical, what, name)
        if policy is None:
            return []
        holders = [name for key in _HOLDERS[what] for name in _names(body / key)]
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
    managed, key = body / "SqsManagedSseEnabled", body / "KmsMasterKeyId"
    found = MessageQueue(
        at=body.at,
        logical=logical,
        name=_text(body / "QueueName"),
        managed_encryption=_flag(managed),
        key=key.value not in (None, ""),
        retention=_integer(body / "MessageRetentionPeriod"),
        origins={"managed_encryption": managed.at, "key": key.at},
        unread=_unread(managed_encryption=managed),
    )
    return [found]


def _bucket(body: Reader, logical: str) -> list[CloudResource]:
    block = body / "PublicAccessBlockConfiguration"
    said = {name: _flag(value) for name, value in block.entries()}
    found = Bucket(
        at=body.at,
        logical=logical,
        name=_text(body / "BucketName"),
        public_access={
            name: value for name, value in said.items() if value is not None
        },
        origins={"public_access": block.at},
        unread=_unread(public_access=block),
    )
    return [found]


def _event_rule(body: Reader, logical: str) -> list[CloudResource]:
    pattern = body / "EventPattern"
    found = EventRule(
        at=body.at,
        logical=logical,
        detail_types=(pattern / "detail-type").texts(),
        targets=tuple(
            name for each in (body / "Targets").items() if (name := _name(each / "Arn"))
        ),
    )
    return [found]


def _placement_group(body: Reader, logical: str) -> list[CloudResource]:
    found = PlacementGroupStack(
        at=body.at,
        logical=logical,
        strategy=_text(body / "Strategy"),
    )
    return [found]


def _access_entry(body: Reader, logical: str) -> list[CloudResource]:
    found = AccessEntryStack(
        at=body.at,
        logical=logical,
        cluster=_name(body / "ClusterName"),
        principal=_name(body / "PrincipalArn"),
        kind=_text(body / "Type"),
        groups=_names(body / "KubernetesGroups"),
        policies=tuple(
            name
            for each in (body / "AccessPolicies").items()
            if (name := _text(each / "PolicyArn"))
        ),
        origins={"groups": (body / "KubernetesGroups").at},
    )
    return [found]


def _pod_identity(body: Reader, logical: str) -> list[CloudResource]:
    found = PodIdentityStack(
        at=body.at,
        logical=logical,
        cluster=_name(body / "ClusterName"),
        namespace=_text(body / "Namespace"),
        service_account=_text(body / "ServiceAccount"),
        role=_name(body / "RoleArn"),
    )
    return [found]


_READERS: dict[str, Read] = {
    "AWS::IAM::Role": _role,
    "AWS::IAM::ManagedPolicy": _policy("managed"),
    "AWS::IAM::Policy": _policy("inline"),
    "AWS::IAM::RolePolicy": _policy("inline"),
    "AWS::SQS::Queue": _queue,
    "AWS::SQS::QueuePolicy": _policy("queue"),
    "AWS::S3::Bucket": _bucket,
    "AWS::S3::BucketPolicy": _policy("bucket"),
    "AWS::Events::Rule": _event_rule,
    "AWS::EC2::PlacementGroup": _placement_group,
    "AWS::EKS::AccessEntry": _access_entry,
    "AWS::EKS::PodIdentityAssociation": _pod_identity,
}
TYPES = frozenset(_READERS)
"""The types that are read."""


def _attached(found: list[CloudResource]) -> list[CloudResource]:
    """Roles with the policies that attach themselves to them."""
    policies = [
        each
        for each in found
        if isinstance(each, AccessPolicy) and each.gives_rights and each.holders
    ]
    if not policies:
        return found
    return [
        _with(each, policies) if isinstance(each, IamRole) else each for each in found
    ]


def _with(role: IamRole, policies: list[AccessPolicy]) -> IamRole:
    names = {role.logical} | ({role.name} if role.name else set())
    own = [each for each in policies if names & set(each.holders)]
    managed = [each.logical for each in own if each.what == "managed"]
    more = [name for name in managed if name not in role.managed]
    inline = [each for each in own if each.what == "inline"]
    return replace(role, managed=(*role.managed, *more), inline=(*role.inline, *inline))
