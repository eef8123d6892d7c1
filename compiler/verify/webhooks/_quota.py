"""Resource groups of ClusterQueue and Cohort (kueue v0.19.2, pkg/webhooks)."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from compiler.output.body import items
from compiler.subjects.jobs.plan import MISSPELT
from compiler.verify.amounts import amount
from compiler.verify.fault import Fault, Path, breaks, refused

_MOST = 256  # flavors, and resources, of all groups together
_MOST_PAIRS = 512  # resources × flavors of one group


def resource_groups(
    groups: list[dict[str, Any]], *, in_cohort: bool
) -> Iterator[Fault]:
    """Faults of the resource groups at ``spec.resourceGroups``."""
    owners: dict[tuple[str, str], int] = {}
    for index, group in enumerate(groups):
        path: Path = ("spec", "resourceGroups", index)
        covered = list(group.get("coveredResources") or ())
        flavors = items(group, "flavors")
        named = [
            (("coveredResources", place), "resource", name)
            for place, name in enumerate(covered)
        ]
        named += [
            (("flavors", place), "flavor", flavor.get("name"))
            for place, flavor in enumerate(flavors)
        ]
        for tail, what, name in named:
            if owners.setdefault((what, str(name)), index) != index:
                yield refused(
                    (*path, *tail),
                    f"{what} `{name}` is already in resource group {owners[what, str(name)]}",
                    help="keep it in one group",
                )
        if len(covered) * len(flavors) > _MOST_PAIRS:
            message = f"{len(covered)} resources × {len(flavors)} flavors are more than {_MOST_PAIRS} in one group"
            yield refused(
                (*path, "flavors"),
                message,
                help="put the flavors into one group, or split the resources",
            )
        listed = {
            tuple(str(each.get("name")) for each in items(flavor, "resources"))
            for flavor in flavors
        }
        other = _other(covered, listed)
        if (
            other is not None
            and len(flavors) == 1
            and covered[other[0]] not in MISSPELT
        ):
            other = None  # which of two is meant, nobody can tell
        if other is not None:
            message = f"resource {other[0]} is `{covered[other[0]]}`, and every flavor has `{other[1]}` there"
            yield refused(
                (*path, "coveredResources", other[0]),
                message,
                f"write `{other[1]}` there",
            )
        for place, flavor in enumerate(flavors):
            yield from _flavor(
                (*path, "flavors", place), covered, flavor, ordered=other is None
            )
    if not in_cohort:
        yield from _alone(groups)
    for what in ("resource", "flavor"):
        if (count := sum(owner[0] == what for owner in owners)) > _MOST:
            yield refused(
                ("spec", "resourceGroups"),
                f"{count} {what}s are more than {_MOST}",
                help=f"keep at most {_MOST}",
            )


def _other(covered: list[str], listed: set[tuple[str, ...]]) -> tuple[int, str] | None:
    """Where the covered resources differ from what all flavors list alike."""
    names = next(iter(listed)) if len(listed) == 1 else ()
    if len(names) != len(covered):
        return None
    return next(
        ((index, name) for index, name in enumerate(names) if name != covered[index]),
        None,
    )


def _flavor(
    path: Path, covered: list[str], flavor: dict[str, Any], *, ordered: bool
) -> Iterator[Fault]:
    resources = items(flavor, "resources")
    if len(covered) != len(resources):
        missing = [
            name
            for name in covered
            if name not in {each.get("name") for each in resources}
        ]
        what = (
            f"no quota for `{missing[0]}`"
            if missing
            else "more resources than `coveredResources`"
        )
        yield breaks(
            (*path, "resources"),
            f"flavor `{flavor.get('name')}` has {what}",
            "list every resource of `coveredResources`, in its order",
            key=True,
        )
    names = [resource.get("name") for resource in resources]
    for index, resource in enumerate(resources):
        here = (*path, "resources", index)
        told = (
            not ordered
            or len(covered) != len(resources)
            or names[:index] != covered[:index]
        )  # or at the first
        if not told and resource.get("name") != covered[index]:
            name = resource.get("name")
            message = f"resource {index} is `{name}`, and `coveredResources` has `{covered[index]}` there"
            yield refused(
                (*here, "name"),
                message,
                "list the resources in the order of `coveredResources`",
            )
        yield from _amounts(here, resource)


def _alone(groups: list[dict[str, Any]]) -> Iterator[Fault]:
    """The first limit of a queue that has nobody to borrow from or lend to; the others go with it."""
    for index, group in enumerate(groups):
        for place, flavor in enumerate(items(group, "flavors")):
            for number, resource in enumerate(items(flavor, "resources")):
                for field, fault in (
                    ("borrowingLimit", breaks),
                    ("lendingLimit", refused),
                ):
                    if resource.get(field) is not None:
                        path = (
                            "spec",
                            "resourceGroups",
                            index,
                            "flavors",
                            place,
                            "resources",
                            number,
                            field,
                        )
                        yield fault(
                            path,
                            f"`{field}` without a cohort",
                            "name a cohort, or leave it out",
                            key=True,
                        )
                        return


def _amounts(path: Path, resource: dict[str, Any]) -> Iterator[Fault]:
    amounts: dict[str, Fraction] = {}
    for field in ("nominalQuota", "borrowingLimit", "lendingLimit"):
        if (found := amount(resource.get(field))) is not None:
            amounts[field] = found
            if found < 0:
                yield refused(
                    (*path, field),
                    f"`{field}` is negative: {resource[field]}",
                    help="write 0 or more",
                )
    if (
        "lendingLimit" in amounts
        and "nominalQuota" in amounts
        and amounts["lendingLimit"] > amounts["nominalQuota"]
    ):
        message = f"`lendingLimit` {resource['lendingLimit']} is above `nominalQuota` {resource['nominalQuota']}"
        yield refused(
            (*path, "lendingLimit"),
            message,
            help="leave `lendingLimit` out, or lower it",
        )
