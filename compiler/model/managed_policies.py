"""Managed policies of AWS that allow more than any node or pod needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from compiler.diagnostics import Severity
from compiler.manifest import Manifest
from compiler.output.body import walk_mappings
from compiler.source import Route

_EVERYTHING = ("AdministratorAccess", "PowerUserAccess", "IAMFullAccess")
_LISTS = ("attachPolicyARNs", "permissionPolicyARNs")
_OF_AWS = ":iam::aws:policy/"


class BroadPolicy(NamedTuple):
    """A managed policy, what it allows, and how grave that is (``None``: as the rule says)."""

    name: str
    what: str
    severity: Severity | None


def broad(arn: str) -> BroadPolicy | None:
    """What a policy is by its ARN, where it is one of AWS' that allow everything, or everything of a service."""
    if _OF_AWS not in arn:
        return None
    name = arn.rpartition("/")[2]
    if name in _EVERYTHING:
        return BroadPolicy(name, "the whole account", None)
    if name.endswith("FullAccess"):
        return BroadPolicy(name, "every action of the service", Severity.NOTE)
    return None


def attached(manifest: Manifest) -> Iterator[tuple[Route, str]]:
    """The ARNs of policies that a ClusterConfig attaches to roles, wherever it names any, with their places."""
    for path, part in walk_mappings(manifest.body):
        for name in _LISTS:
            arns = part.get(name)
            policies = arns if isinstance(arns, list) else ()
            for index, arn in enumerate(policies):
                at = Route((manifest.id, *path, name, index))
                yield at, str(arn)
