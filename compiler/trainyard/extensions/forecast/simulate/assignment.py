"""What a job would get: a flavor for each resource of each set of pods, and what stands in the way.

Source: Kueue 0.19.2, pkg/scheduler/flavorassigner/flavorassigner.go.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple

from trainyard.extensions.forecast.simulate.objects import Cell, PodSet
from trainyard.extensions.forecast.simulate.placing import Placed, Wanted


class Mode(IntEnum):
    """How a job gets what it asks for; a higher one is better."""

    NO_FIT = 0
    PREEMPT = 1
    FIT = 2


class Obstacle(NamedTuple):
    """One thing in a job's way.

    ``kind``: ``unused`` (the quota is in use, ``short`` is missing), ``most`` (beyond the most that the queue can
    get, ``short`` too much), ``uncovered`` (no group of the queue has the resource), ``taint``, ``affinity``,
    ``missing`` (there is no such flavor), ``topology-flavor`` (the flavor has no topology, not the level, or only a
    topology), ``place`` (no domain has room), ``no-place-ever`` (none has, even if no job ran), ``no-topology`` (the
    queue has no flavor with one), ``taken`` (another job of the same cycle took it), ``preempted``, ``namespace`` (the
    queue does not take its jobs), ``queue-inactive``, ``no-queue``, ``no-local-queue``, ``local-queue-stopped``,
    ``not-ready`` (its pods were not ready in time).
    """

    kind: str
    flavor: str = ""
    resource: str = ""
    short: int = 0
    detail: str = ""


class Choice(NamedTuple):
    """The flavor of a resource, how it would be had, how far it is borrowed from, and the flavor tried last."""

    flavor: str
    mode: Mode
    borrowing: int
    tried: int


class SetAssignment:
    """What one set of pods gets."""

    def __init__(self, pods: PodSet, count: int) -> None:
        self.pods = pods
        self.count = count
        self.choices: dict[str, Choice] = {}
        self.obstacles: list[Obstacle] = []
        self.failed = False
        self.placed: Placed | None = None
        self.flavor_of_place: str | None = None

    def mode(self) -> Mode:
        """The worst of its choices."""
        if self.failed:
            return Mode.NO_FIT
        if not self.obstacles:
            return Mode.FIT
        if not self.choices:
            return Mode.NO_FIT
        return min(choice.mode for choice in self.choices.values())

    def set_mode(self, mode: Mode) -> None:
        """Change how everything would be had."""
        self.choices = {
            resource: choice._replace(mode=mode) for resource, choice in self.choices.items()
        }


class Assignment:
    """What a job gets in all."""

    def __init__(self) -> None:
        self.sets: list[SetAssignment] = []
        self.usage: dict[Cell, int] = {}
        self.borrowing = 0
        self.wanted: list[Wanted] | None = None
        self._mode: Mode | None = None

    @property
    def mode(self) -> Mode:
        """The worst of its sets, or what a look at the topology made of it."""
        if not self.sets:
            return Mode.NO_FIT
        if self._mode is None:
            self._mode = min(each.mode() for each in self.sets)
        return self._mode

    def add(self, each: SetAssignment, requests: dict[str, int]) -> None:
        """Count a set in."""
        self.sets.append(each)
        for resource, choice in each.choices.items():
            self.borrowing = max(self.borrowing, choice.borrowing)
            cell = Cell(choice.flavor, resource)
            self.usage[cell] = self.usage.get(cell, 0) + requests.get(resource, 0)

    def set_mode(self, name: str, mode: Mode) -> None:
        """Change how a set, and with it the job, would be had."""
        for each in self.sets:
            if each.pods.name == name:
                each.set_mode(mode)
                self._mode = mode

    def fail(self) -> None:
        """Have nothing: a set cannot be placed at all."""
        self._mode = Mode.NO_FIT

    def of(self, name: str) -> SetAssignment:
        """The set of a name."""
        return next(each for each in self.sets if each.pods.name == name)

    def take(self, wanted: list[Wanted], placed: dict[str, Placed]) -> None:
        """Remember where the sets go."""
        for want in wanted:
            if want.pods.name in placed:
                each = self.of(want.pods.name)
                each.placed = placed[want.pods.name]
                each.flavor_of_place = want.flavor

    def places(self) -> Iterator[tuple[str, PodSet, Placed]]:
        """Flavor, set and place of all sets that have one."""
        for each in self.sets:
            if each.placed is not None and each.flavor_of_place is not None:
                yield each.flavor_of_place, each.pods, each.placed

    def obstacles(self) -> list[Obstacle]:
        """What stands in the way of any set."""
        found: list[Obstacle] = []
        for each in self.sets:
            found += each.obstacles
        return found

    def cells_to_free(self) -> frozenset[Cell]:
        """What must be preempted for."""
        cells = set()
        for each in self.sets:
            for resource, choice in each.choices.items():
                if choice.mode is Mode.PREEMPT:
                    cells.add(Cell(choice.flavor, resource))
        return frozenset(cells)

    def tried(self) -> tuple[dict[str, int], ...]:
        """The flavor that was tried last, by set and resource: -1 where all were."""
        return tuple(
            {resource: choice.tried for resource, choice in each.choices.items()}
            for each in self.sets
        )
