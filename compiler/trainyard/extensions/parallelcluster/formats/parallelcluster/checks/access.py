"""Networks and rights: security groups, scripts that a node cannot read, who reaches the head node."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.extensions.parallelcluster.formats.parallelcluster.checks.parts import (
    Part,
    queues_of,
)
from trainyard.verify.fault import SCHEMA, Fault, never_works, refused

_NO_S3 = (
    "CloudWatchAgentServerPolicy",
    "AmazonEC2ContainerRegistryReadOnly",
    "AmazonEC2ContainerRegistryPullOnly",
    "AmazonSSMManagedInstanceCore",
)
"""Managed policies that give no right in S3 (AWS managed policy reference)."""
_EVENTS = ("OnNodeStart", "OnNodeConfigured", "OnNodeUpdated")


def faults(body: dict[str, Any]) -> Iterator[Fault]:
    whole = Part(body)
    head = whole.below("HeadNode")
    yield from _groups(head)
    yield from _wrong_actions(head)
    yield from _scripts(head)
    for queue in queues_of(body):
        yield from _groups(queue)
        yield from _wrong_actions(queue)
        yield from _scripts(queue)
    for pool in whole.items("LoginNodes", "Pools"):
        yield from _groups(pool)
        yield from _wrong_actions(pool)
    yield from _open(head, "the head node")
    yield from _unnamed(head)
    for pool in whole.items("LoginNodes", "Pools"):
        yield from _open(pool, "the login nodes")


def _groups(part: Part) -> Iterator[Fault]:
    if part.has("Networking", "SecurityGroups") and part.has(
        "Networking", "AdditionalSecurityGroups"
    ):
        yield refused(
            part.at("Networking", "AdditionalSecurityGroups"),
            "`SecurityGroups` and `AdditionalSecurityGroups` cannot be given together",
            "keep one: `AdditionalSecurityGroups` adds to those that ParallelCluster makes",
            key=True,
        )


def _scripts(part: Part) -> Iterator[Fault]:
    """Scripts in buckets that no right of the nodes reaches: the cluster fails when its first node starts."""
    readable = {item.text("BucketName") for item in part.items("Iam", "S3Access")}
    policies = [item.text("Policy") or "" for item in part.items("Iam", "AdditionalIamPolicies")]
    is_known = all(policy.endswith(_NO_S3) for policy in policies)
    if (
        not is_known
        or "*" in readable
        or part.has("Iam", "InstanceRole")
        or part.has("Iam", "InstanceProfile")
    ):
        return
    for action in _actions(part):
        several = [*action.items("Sequence")] or [action]
        for script in several:
            place = script.text("Script")
            bucket = _bucket(place)
            if bucket and bucket not in readable:
                yield never_works(
                    script.at("Script"),
                    f"nodes may not read `{place}`: `Iam.S3Access` does not name bucket `{bucket}`",
                    f"add `- BucketName: {bucket}` to `S3Access`",
                )


def _actions(part: Part) -> Iterator[Part]:
    """What nodes do at each event."""
    for event in _EVENTS:
        if part.has("CustomActions", event):
            yield part.below("CustomActions", event)


def _wrong_actions(part: Part) -> Iterator[Fault]:
    """Actions without a script, or with one and several (OneOrManyCustomActionField)."""
    for action in _actions(part):
        if not isinstance(action.body, dict):
            continue
        if action.has("Script") and action.has("Sequence"):
            yield refused(
                action.at("Sequence"),
                "`Script` and `Sequence` cannot be given together",
                "move `Script` to the top of `Sequence`",
                key=True,
            )
        elif not action.has("Script") and not action.has("Sequence"):
            yield Fault(
                SCHEMA,
                "SCH003",
                action.path,
                "`Script` is missing",
                "add `Script`, or several of them below `Sequence`",
                key=True,
            )


def _bucket(place: str | None) -> str:
    if place is None or not place.startswith("s3://"):
        return ""
    return place.removeprefix("s3://").partition("/")[0]


def _open(part: Part, whose: str) -> Iterator[Fault]:
    """Blocks that are larger than any owner's (IANA IPv4 address space registry)."""
    length = (part.text("Ssh", "AllowedIps") or "").partition("/")[2]
    if not length.isdecimal() or int(length) >= 8:
        return
    who = f"1 of {2 ** int(length)} addresses of the internet"
    if int(length) == 0:
        who = "everybody on the internet"
    yield never_works(
        part.at("Ssh", "AllowedIps"),
        f"{who} reaches the SSH port of {whose}",
        "name the addresses that log in, or `127.0.0.1/32` and use Session Manager",
        warning=True,
    )


def _unnamed(head: Part) -> Iterator[Fault]:
    """ParallelCluster opens SSH to everybody where nobody is named (HeadNodeSsh.allowed_ips, 0.0.0.0/0); login nodes
    take what the head node has (LoginNodesSsh)."""
    if not isinstance(head.body, dict):
        return
    if head.text("Ssh", "AllowedIps") is None and head.has("Ssh", "KeyName"):
        yield never_works(
            head.at("Ssh"),
            "`AllowedIps` is not given: everybody on the internet reaches the SSH port of the head node",
            "add `AllowedIps` with the addresses that log in",
            key=True,
            warning=True,
        )
