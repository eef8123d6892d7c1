"""Resource groups of ClusterQueue and Cohort (kueue v0.19.2, pkg/webhooks)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from trainyard.core.pods.plan import MISSPELT
from trainyard.output.body import mappings_at, value_at, values_along
from trainyard.verify.amounts import amount
from trainyard.verify.fault import Fault, Path, refused

_MOST = 256  # flavors, and resources, of all groups together
_MOST_PAIRS = 512  # resources × flavors of one group


def resource_groups(groups: list[dict[str, Any]], *, in_cohort: bool) -> Iterator[Fault]:
    """Faults of the resource groups at ``spec.resourceGroups``."""
    owners: dict[tuple[str, str], int] = {}
    for index, group in enumerate(groups):
        path: Path = ("spec", "resourceGroups", index)
        yield from _repeated(path, group, owners, index)
        yield from _group(path, group)
    if not in_cohort:
        yield from _lending_alone(groups)
    counts = Counter(what for what, _ in owners)
    for what in ("resource", "flavor"):
        if counts[what] > _MOST:
            count = counts[what]
            message = f"{count} {what}s are more than {_MOST}"
            help = f"keep at most {_MOST}"
            yield refused(("spec", "resourceGroups"), message, help)


def _repeated(
    path: Path, group: dict[str, Any], owners: dict[tuple[str, str], int], index: int
) -> Iterator[Fault]:
    """Faults of resources and flavors that an earlier group has; ``owners`` learns those of this one."""
    covered = group.get("coveredResources") or ()
    for place, name in enumerate(covered):
        resource = ("resource", str(name))
        owner = owners.setdefault(resource, index)
        if owner != index:
            message = f"resource `{name}` is already in resource group {owner}"
            here = (*path, "coveredResources", place)
            yield refused(here, message, "keep it in one group")
    for place, flavor in enumerate(mappings_at(group, "flavors")):
        name = flavor.get("name")
        flavor_key = ("flavor", str(name))
        owner = owners.setdefault(flavor_key, index)
        if owner != index:
            message = f"flavor `{name}` is already in resource group {owner}"
            here = (*path, "flavors", place)
            yield refused(here, message, "keep it in one group")


def _group(path: Path, group: dict[str, Any]) -> Iterator[Fault]:
    covered = list(group.get("coveredResources") or ())
    flavors = mappings_at(group, "flavors")
    if len(covered) * len(flavors) > _MOST_PAIRS:
        yield refused(
            (*path, "flavors"),
            f"{len(covered)} resources × {len(flavors)} flavors are more than {_MOST_PAIRS} in one group",
            help="put the flavors into one group, or split the resources",
        )
    other = _other(covered, flavors)
    if other is not None:
        index, name = other
        yield refused(
            (*path, "coveredResources", index),
            f"resource {index} is `{covered[index]}`, and every flavor has `{name}` there",
            f"write `{name}` there",
        )
    for place, flavor in enumerate(flavors):
        here = (*path, "flavors", place)
        yield from _flavor(here, covered, flavor, ordered=other is None)


def _other(covered: list[str], flavors: list[dict[str, Any]]) -> tuple[int, str] | None:
    """Where the covered resources differ from what all flavors list alike. With a single flavor it is unknown
    which of two names is meant, unless one of them is misspelt."""
    lists = {tuple(_resource_names(flavor)) for flavor in flavors}
    if len(lists) != 1:
        return None
    (names,) = lists
    if len(names) != len(covered):
        return None
    for index, name in enumerate(names):
        resource = covered[index]
        if name != resource:
            is_clear = len(flavors) > 1 or resource in MISSPELT
            return (index, name) if is_clear else None
    return None


def _resource_names(flavor: dict[str, Any]) -> list[str]:
    resources = mappings_at(flavor, "resources")
    return [str(resource.get("name")) for resource in resources]


def _flavor(
    path: Path, covered: list[str], flavor: dict[str, Any], *, ordered: bool
) -> Iterator[Fault]:
    resources = mappings_at(flavor, "resources")
    names = [resource.get("name") for resource in resources]
    if len(covered) != len(resources):  # a rule of the definition
        ordered = False
    for index, resource in enumerate(resources):
        here = (*path, "resources", index)
        # What follows the first one out of order is out of order with it.
        is_first = ordered and names[:index] == covered[:index]
        if is_first and names[index] != covered[index]:
            fact = f"resource {index} is `{names[index]}`"
            yield refused(
                (*here, "name"),
                f"{fact}, and `coveredResources` has `{covered[index]}` there",
                "list the resources in the order of `coveredResources`",
            )
        yield from _amounts(here, resource)


def _lending_alone(groups: list[dict[str, Any]]) -> Iterator[Fault]:
    """The first lending limit of a queue that has nobody to lend to; the others go with it, and all of them with a
    borrowing limit, which a rule of the definition refuses."""
    pattern = ("resourceGroups", "*", "flavors", "*", "resources", "*")
    resources = list(values_along({"resourceGroups": groups}, pattern, ("spec",)))
    if any(value_at(resource, "borrowingLimit") is not None for _, resource in resources):
        return
    for path, resource in resources:
        if value_at(resource, "lendingLimit") is not None:
            place = (*path, "lendingLimit")
            help = "name a cohort, or leave it out"
            yield refused(place, "`lendingLimit` without a cohort", help, key=True)
            return


def _amounts(path: Path, resource: dict[str, Any]) -> Iterator[Fault]:
    amounts: dict[str, Fraction] = {}
    for field in ("nominalQuota", "borrowingLimit", "lendingLimit"):
        number = amount(resource.get(field))
        if number is None:
            continue
        amounts[field] = number
        if number < 0:
            message = f"`{field}` is negative: {resource[field]}"
            yield refused((*path, field), message, "write 0 or more")
    nominal = amounts.get("nominalQuota")
    lending = amounts.get("lendingLimit")
    if nominal is None or lending is None:
        return
    if lending > nominal:
        yield refused(
            (*path, "lendingLimit"),
            f"`lendingLimit` {resource['lendingLimit']} is above `nominalQuota` {resource['nominalQuota']}",
            help="leave `lendingLimit` out, or lower it",
        )
