"""AWS managed policies that allow more than a node or pod needs, and names of none that exists."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.catalog import managed_policies
from trainyard.language.dataclass import dataclass
from trainyard.language.diagnostics import Severity
from trainyard.language.diagnostics.near import near
from trainyard.language.places import Route
from trainyard.output.body import walk_mappings
from trainyard.output.manifest import Manifest

_EVERYTHING = ("AdministratorAccess", "PowerUserAccess", "IAMFullAccess")
_LISTS = ("attachPolicyARNs", "permissionPolicyARNs")
_OF_AWS = ":iam::aws:policy/"


@dataclass(frozen=True, slots=True)
class BroadPolicy:
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


@dataclass(frozen=True, slots=True)
class NoSuchPolicy:
    """An ARN that IAM does not know: what is wrong with it, what to write, and whether that is certain."""

    what: str
    instead: str
    severity: Severity


def missing(arn: str) -> NoSuchPolicy | None:
    """What is wrong with the ARN of a policy of AWS; ``None`` where it exists, or is not one of AWS'.

    A known policy below another path is certain. A name that is not known may be newer than the table.
    """
    if _OF_AWS not in arn:
        return None
    start, _, rest = arn.partition(_OF_AWS)
    folder, _, name = rest.rpartition("/")
    path = "/"
    if folder:
        path = f"/{folder}/"
    known = managed_policies.path_of(name)
    if known == path:
        return None
    if known is not None:
        return NoSuchPolicy(
            f"the path of `{name}` is `{known}`",
            f"`{start}:iam::aws:policy{known}{name}`",
            Severity.ERROR,
        )
    alike = near(name, managed_policies.names(), limit=1)
    if alike:
        meant = managed_policies.arn_of(alike[0])
        instead = f"`{meant}`, if that is meant"
    else:
        instead = "a policy of `aws iam list-policies --scope AWS`"
    return NoSuchPolicy(
        f"not among AWS' policies of {managed_policies.newest()}", instead, Severity.WARNING
    )


def attached(manifest: Manifest) -> Iterator[tuple[Route, str]]:
    """The ARNs of policies that a ClusterConfig attaches to roles, wherever it names any, with their places."""
    for path, part in walk_mappings(manifest.body):
        for name in _LISTS:
            arns = part.get(name)
            policies = arns if isinstance(arns, list) else ()
            for index, arn in enumerate(policies):
                at = Route((manifest.id, *path, name, index))
                yield at, str(arn)
