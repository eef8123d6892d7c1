"""Where the pods of a set go: few domains for what wants to be near, the fullest hosts for what does not.

Sets with a leader and slices of a set are not modelled. Source: Kueue 0.19.2, pkg/cache/scheduler/
tas_flavor_snapshot.go (findTopologyAssignment, findLevelWithFitDomains, updateCountsToMinimumGeneric), with the
feature gates as they are released: TASProfileMixed on, TASBalancedPlacement off.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from compiler.simulate.domains import PODS, Domain, Forest
from compiler.simulate.objects import PodSet

Placed = dict[tuple[str, ...], int]
"""Pods by the domain of the lowest level."""


class Unplaced(NamedTuple):
    """Why a set has no place: the level, how many of its pods fit into one domain of it (``preferred`` and
    ``unconstrained``: into all), and how many there are."""

    pod_set: str
    level: str
    fit: int
    asked: int


class Wanted(NamedTuple):
    """A set of pods that wants a place in a flavor. ``implied``: its queue has only flavors with a topology."""

    pods: PodSet
    asked: int
    flavor: str
    implied: bool


def place_all(
    forests: Mapping[str, Forest], wanted: Sequence[Wanted], *, empty: bool = False
) -> tuple[dict[str, Placed], Unplaced | None]:
    """A place for each set, by its name, or the first that has none. ``empty``: as if no job had a place."""
    placed: dict[str, Placed] = {}
    taken: dict[tuple[str, ...], dict[str, int]] = {}
    # Kueue goes by flavor, and within one in the order of the sets.
    for want in sorted(wanted, key=lambda want: want.flavor):
        found = _place(forests[want.flavor], want, taken, empty=empty)
        if isinstance(found, Unplaced):
            return placed, found
        placed[want.pods.name] = found
        for id, count in found.items():
            used = taken.setdefault(id, {})
            for resource, amount in ((PODS, 1), *want.pods.requests.items()):
                used[resource] = used.get(resource, 0) + amount * count
    return placed, None


def _place(
    forest: Forest, want: Wanted, taken: Mapping[tuple[str, ...], Mapping[str, int]], *, empty: bool
) -> Placed | Unplaced:
    placement = want.pods.placement
    anywhere = want.implied or (placement is not None and placement.mode == "unconstrained")
    label = forest.levels[-1]
    if placement is not None and not anywhere:
        label = str(placement.level)
    level = forest.level(label)
    if level is None:
        return Unplaced(want.pods.name, label, 0, want.asked)
    forest.count(want.pods, taken, empty=empty)
    required = placement is not None and placement.mode == "required"
    chosen = _chosen(forest, level, want.asked, required=required, anywhere=anywhere)
    if isinstance(chosen, int):
        return Unplaced(want.pods.name, label, chosen, want.asked)
    level, domains = chosen
    shares = _shares(domains, want.asked, anywhere=anywhere)
    for _ in range(level, len(forest.levels) - 1):
        lower = [below for domain, _ in shares for below in domain.below]
        shares = _shares(_sorted(lower, anywhere=anywhere), want.asked, anywhere=anywhere)
    shares.sort(key=lambda share: share[0].order)
    return {domain.id: count for domain, count in shares if count}


def _sorted(domains: Sequence[Domain], *, anywhere: bool) -> list[Domain]:
    """The roomiest first; for pods that may go anywhere the fullest first, so that whole nodes stay free."""
    sign = 1 if anywhere else -1
    return sorted(domains, key=lambda domain: (sign * domain.count, domain.order))


def _tightest(domains: Sequence[Domain], needed: int) -> Domain:
    """The domain that has room and the least to spare."""
    fitting = [domain for domain in domains if domain.count >= needed]
    return min(fitting, key=lambda domain: domain.count)


def _chosen(
    forest: Forest, level: int, count: int, *, required: bool, anywhere: bool
) -> tuple[int, list[Domain]] | int:
    """The level and the domains that take all pods, or how many would fit."""
    domains = _sorted(forest.by_level[level], anywhere=anywhere)
    if not domains:
        return 0
    if anywhere:
        for domain in domains:
            if domain.count >= count:
                return level, [domain]
        return _several(level, domains, count, anywhere=True)
    if domains[0].count >= count:
        return level, [_tightest(domains, count)]
    if required:
        return domains[0].count
    if level > 0:
        return _chosen(forest, level - 1, count, required=False, anywhere=False)
    return _several(level, domains, count, anywhere=False)


def _several(
    level: int, domains: list[Domain], count: int, *, anywhere: bool
) -> tuple[int, list[Domain]] | int:
    chosen: list[Domain] = []
    left = count
    for index, first in enumerate(domains):
        domain = first
        if left <= 0:
            break
        if not anywhere and domain.count >= left:
            domain = _tightest(domains[index:], left)
        chosen.append(domain)
        left -= domain.count
    if left > 0:
        return count - left
    return level, chosen


def _shares(domains: Sequence[Domain], count: int, *, anywhere: bool) -> list[tuple[Domain, int]]:
    """How many pods each domain takes, until none is left."""
    shares: list[tuple[Domain, int]] = []
    left = count
    for index, first in enumerate(domains):
        domain = first
        if not anywhere and domain.count >= left:
            domain = _tightest(domains[index:], left)
        if domain.count >= left:
            return [*shares, (domain, left)]
        left -= domain.count
        shares.append((domain, domain.count))
    return shares
