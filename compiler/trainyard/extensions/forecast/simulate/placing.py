"""Where the pods of a set go: few domains for what wants to be near, the fullest hosts for what does not.

Sets with a leader and slices of a set are not modelled. Source: Kueue 0.19.2, pkg/cache/scheduler/
tas_flavor_snapshot.go (findTopologyAssignment, findLevelWithFitDomains, updateCountsToMinimumGeneric), with the
feature gates as they are released: TASProfileMixed on, TASBalancedPlacement off.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from trainyard.extensions.forecast.simulate.domains import PODS, Forest
from trainyard.extensions.forecast.simulate.objects import PodSet
from trainyard.extensions.forecast.simulate.rooms import Domain, Ranked, Rooms, Together

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


class Empty:
    """Places in a cluster where no job has one: they are found once for the same sets."""

    def __init__(self, forests_of: Mapping[str, Mapping[str, Forest]]) -> None:
        self._forests_of = forests_of
        # With the sets themselves, so that nothing else gets their identities.
        self._known: dict[Any, tuple[list[PodSet], tuple[dict[str, Placed], Unplaced | None]]] = {}

    def place(
        self, queue: str, wanted: Sequence[Wanted]
    ) -> tuple[dict[str, Placed], Unplaced | None]:
        """A place for each set of a job of a queue, by its name, or the first that has none."""
        key = (queue, *((id(want.pods), want.asked, want.flavor) for want in wanted))
        known = self._known.get(key)
        if known is None:
            found = place_all(self._forests_of[queue], wanted, empty=True)
            known = self._known[key] = [want.pods for want in wanted], found
        return known[1]


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


_Taken = Mapping[tuple[str, ...], Mapping[str, int]]
_Shares = list[tuple[Domain, int]]
"""How many pods each domain takes."""


def _place(forest: Forest, want: Wanted, taken: _Taken, *, empty: bool) -> Placed | Unplaced:
    placement = want.pods.placement
    anywhere = want.implied or (placement is not None and placement.mode == "unconstrained")
    label = forest.levels[-1]
    if placement is not None and not anywhere:
        label = str(placement.level)
    level = forest.level(label)
    if level is None:
        return Unplaced(want.pods.name, label, 0, want.asked)
    required = placement is not None and placement.mode == "required"
    with _beside(forest, want.pods, taken, empty=empty) as rooms:
        if anywhere:
            chosen = _anywhere(rooms, level, want.asked)
        else:
            chosen = _near(rooms, level, want.asked, required=required)
        if isinstance(chosen, int):
            return Unplaced(want.pods.name, label, chosen, want.asked)
        return _placed(forest, rooms, chosen, want.asked, anywhere=anywhere)


@contextmanager
def _beside(forest: Forest, pods: PodSet, taken: _Taken, *, empty: bool) -> Iterator[Rooms]:
    """The rooms for pods beside what other sets of the same job have taken."""
    rooms = forest.rooms(pods, empty=empty)
    before: dict[Domain, int] = {}
    for id, used in taken.items():
        leaf = forest.leaves.get(id)
        if leaf is not None and leaf in rooms.of:
            before[leaf] = rooms.of[leaf]
            rooms.set(leaf, forest.pods(leaf, pods.requests, used, empty=empty))
    yield rooms
    for leaf, count in before.items():
        rooms.set(leaf, count)


def _placed(forest: Forest, rooms: Rooms, shares: _Shares, count: int, *, anywhere: bool) -> Placed:
    """From shares of domains down to the lowest ones."""
    for _ in range(shares[0][0].level, len(forest.levels) - 1):
        below = rooms.below([domain for domain, _ in shares])
        shares, _ = _shares(below, count, anywhere=anywhere)
    shares.sort(key=lambda share: share[0].position)
    return {domain.id: pods for domain, pods in shares}


def _anywhere(rooms: Rooms, level: int, count: int) -> _Shares | int:
    """Domains of a level that take all pods, the fullest first, so that whole nodes stay free; or how many would
    fit."""
    ranked = rooms.at(level)
    one = ranked.tightest(count)
    if one is not None:
        return [(one[1], count)]
    if rooms.total < count:
        return rooms.total
    return _shares(ranked, count, anywhere=True)[0]


def _near(rooms: Rooms, level: int, count: int, *, required: bool) -> _Shares | int:
    """One domain of a level that takes all pods, and if it is not required, one of a higher level or the roomiest of
    the highest; or how many would fit."""
    ranked = rooms.at(level)
    one = ranked.tightest(count)
    if one is not None:
        return [(one[1], count)]
    if required:
        return ranked.most()
    if level > 0:
        return _near(rooms, level - 1, count, required=False)
    if rooms.total < count:
        return rooms.total
    return _shares(ranked, count, anywhere=False)[0]


def _shares(ranked: Ranked | Together, count: int, *, anywhere: bool) -> tuple[_Shares, int]:
    """How many pods each domain takes, and how many are left: the roomiest domains first, the last of them the
    tightest; for pods that may go anywhere the fullest first."""
    shares: _Shares = []
    taken: set[int] = set()
    left = count
    for room, domain in ranked.fullest() if anywhere else ranked.roomiest():
        if room < left:
            shares.append((domain, room))
            taken.add(domain.position)
            left -= room
            continue
        last = None if anywhere else ranked.tightest(left, taken)
        shares.append((domain if last is None else last[1], left))
        return shares, 0
    return shares, left
