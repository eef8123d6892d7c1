"""Which flavors a job gets: the first that is good enough in each group of resources, then a place in its topology.

Source: Kueue 0.19.2, pkg/scheduler/flavorassigner/flavorassigner.go and tas_flavorassigner.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from trainyard.extensions.forecast.simulate.assignment import (
    Assignment,
    Choice,
    Mode,
    Obstacle,
    SetAssignment,
)
from trainyard.extensions.forecast.simulate.candidates import Candidate
from trainyard.extensions.forecast.simulate.domains import PODS
from trainyard.extensions.forecast.simulate.need import Need
from trainyard.extensions.forecast.simulate.objects import Cell, Group, PodSet, in_order
from trainyard.extensions.forecast.simulate.placing import Unplaced, Wanted, place_all
from trainyard.extensions.forecast.simulate.preempting import Way, foresee, targets
from trainyard.extensions.forecast.simulate.state import State, Work

_FARTHEST = 1 << 30


class _Way(NamedTuple):
    """How a flavor could be had, and how far it is borrowed from."""

    way: Way
    borrowing: int


class Assigner:
    """Finds flavors for one job.

    ``only`` are the flavors of an earlier look in the same cycle, by set and resource. Without ``preempts`` it is found
    whether the job fits, and no jobs to preempt where nothing else could be had for them.
    """

    def __init__(
        self,
        state: State,
        work: Work,
        only: Mapping[tuple[str, str], str] | None = None,
        *,
        preempts: bool = True,
    ) -> None:
        self._state = state
        self._work = work
        self._queue = state.queues[work.queue]
        self._account = state.accounts[work.queue]
        self._only = only or {}
        self._preempts = preempts
        self._wants_place = state.tas_only[work.queue] or any(
            pods.placement is not None for pods in work.job.pod_sets
        )
        self._foresees = preempts
        self._foreseen: dict[Cell, tuple[int, list[Candidate]]] = {}

    def assign(self, counts: Sequence[int] | None = None) -> Assignment:
        """What the job would get, with fewer pods of each set if ``counts`` says so."""
        assignment = Assignment()
        sets = self._work.job.pod_sets
        for index, pods in enumerate(sets):
            count = pods.count if counts is None else counts[index]
            each = SetAssignment(pods, count)
            requests = {name: amount * count for name, amount in pods.requests.items()}
            if self._queue.group_of(PODS) is not None:
                requests[PODS] = count
            self._assign_set(index, each, requests, assignment)
            assignment.add(each, requests)
            if requests and not each.choices:
                return assignment
        if assignment.mode is not Mode.NO_FIT:
            self._place(assignment)
        return assignment

    def _assign_set(
        self, index: int, each: SetAssignment, requests: dict[str, int], assignment: Assignment
    ) -> None:
        ordered = in_order(requests)
        for resource in ordered:
            if resource in each.choices:
                continue
            group = self._queue.group_of(resource)
            if group is None and (requests[resource] == 0 or self._state.world.only_covered):
                continue
            if group is None:
                each.choices.clear()
                each.obstacles = [Obstacle("uncovered", resource=resource)]
                return
            asked = {name: requests[name] for name in ordered if name in group.resources}
            choices, obstacles = self._flavor(index, each.pods, group, resource, asked, assignment)
            if not choices:
                each.choices.clear()
                each.obstacles = obstacles
                return
            each.choices |= choices
            each.obstacles += obstacles

    def _flavor(
        self,
        index: int,
        pods: PodSet,
        group: Group,
        resource: str,
        asked: Mapping[str, int],
        assignment: Assignment,
    ) -> tuple[dict[str, Choice], list[Obstacle]]:
        """The best flavor of a group, and what is in the way of it, if it is not simply there."""
        best: dict[str, Choice] = {}
        best_way = _Way(Way.NO_FIT, _FARTHEST)
        obstacles: list[Obstacle] = []
        tried = -1
        progress = self._work.progress
        first = progress.next(index, resource) if progress else 0
        self._foresees = self._preempts or len(group.flavors) > 1
        for tried in range(first, len(group.flavors)):
            name = group.flavors[tried]
            if self._only and self._only.get((pods.name, resource)) != name:
                continue
            refused = self._state.refusals.of(pods, self._queue.name, name, group)
            if refused is not None:
                obstacles.append(refused)
                continue
            choices, way = self._ways(name, asked, assignment, obstacles)
            if not self._goes_on(way):
                best, best_way = choices, way
                break
            if self._is_better(way, best_way):
                best, best_way = choices, way
        last = -1 if tried == len(group.flavors) - 1 else tried
        if last != -1:
            best = {name: choice._replace(tried=last) for name, choice in best.items()}
        return best, [] if best_way.way is Way.FIT else obstacles

    def _ways(
        self, flavor: str, asked: Mapping[str, int], assignment: Assignment, found: list[Obstacle]
    ) -> tuple[dict[str, Choice], _Way]:
        choices: dict[str, Choice] = {}
        worst = _Way(Way.FIT, 0)
        for resource, amount in asked.items():
            cell = Cell(flavor, resource)
            way, obstacle = self._way(cell, assignment.usage.get(cell, 0) + amount, worst)
            if obstacle is not None:
                found.append(obstacle)
            if way is not worst and self._is_better(worst, way):
                worst = way
            if worst.way is not Way.NO_FIT:
                choices[resource] = Choice(flavor, _mode(way.way), way.borrowing, -1)
        return choices, worst

    def _way(self, cell: Cell, amount: int, worst: _Way) -> tuple[_Way, Obstacle | None]:
        """How a resource could be had; ``worst``: how those before it could be."""
        balance = self._account.of(cell)
        most = balance.most()
        if amount > most:
            return _Way(Way.NO_FIT, 0), Obstacle("most", *cell, short=amount - most)
        borrowing, may_reclaim = balance.distance(amount)
        available = max(0, balance.left())
        if amount <= available:
            return _Way(Way.FIT, borrowing), None
        obstacle = Obstacle("unused", *cell, short=amount - available)
        if not self._foresees:
            return _Way(Way.NO_FIT, borrowing), obstacle
        own = balance.nominal >= amount
        if own or may_reclaim or self._preempts_while_borrowing():
            if worst.way is Way.NO_CANDIDATES and worst.borrowing >= borrowing:
                # The flavor cannot be better than that, and not be borrowed from further away.
                return worst, obstacle
            way, borrowing, found = foresee(self._state, self._work, cell, amount, borrowing)
            self._foreseen[cell] = amount, found
            return _Way(way, borrowing), obstacle
        return _Way(Way.NO_FIT, borrowing), obstacle

    def targets(self, assignment: Assignment) -> list[Candidate]:
        """The jobs to preempt for all that is assigned; none if that would not help."""
        wanted = self.wanted(assignment)
        cells = assignment.cells_to_free()
        if not wanted and len(assignment.usage) == 1:
            # What was foreseen for the only resource is the answer.
            ((cell, amount),) = assignment.usage.items()
            foreseen = self._foreseen.get(cell)
            if cells == {cell} and foreseen is not None and foreseen[0] == amount:
                return foreseen[1]
        return targets(Need(self._state, self._work, cells, assignment.usage, wanted))

    def _preempts_while_borrowing(self) -> bool:
        preemption = self._queue.preemption
        reclaims = self._state.world.fair and preemption.reclaim != "Never"
        return reclaims or preemption.while_borrowing != "Never"

    def _goes_on(self, way: _Way) -> bool:
        if way.way in (Way.NO_FIT, Way.NO_CANDIDATES):
            return True
        if way.way in (Way.PREEMPT, Way.RECLAIM) and self._queue.next_if_preempting:
            return True
        return way.borrowing > 0 and self._queue.next_if_borrowing

    def _is_better(self, one: _Way, other: _Way) -> bool:
        if one.way is Way.NO_FIT or other.way is Way.NO_FIT:
            return one.way is not Way.NO_FIT
        without = [each.way is Way.NO_CANDIDATES for each in (one, other)]
        if without[0] != without[1]:
            return without[1]
        if self._queue.prefers_no_borrowing:
            return (-one.borrowing, one.way) > (-other.borrowing, other.way)
        return (one.way, -one.borrowing) > (other.way, -other.borrowing)

    def wanted(self, assignment: Assignment) -> list[Wanted]:
        """The sets that want a place, each in the one flavor of its own that has a topology."""
        if assignment.wanted is None:
            assignment.wanted = list(self._wanted(assignment)) if self._wants_place else []
        return assignment.wanted

    def _wanted(self, assignment: Assignment) -> Iterator[Wanted]:
        only = self._state.tas_only[self._queue.name]
        forests = self._state.forests_of(self._queue.name)
        for each in assignment.sets:
            implied = each.pods.placement is None and only
            if (each.pods.placement is None and not implied) or each.failed or not each.count:
                continue
            flavors = {choice.flavor for choice in each.choices.values()} & forests.keys()
            if len(flavors) != 1:
                each.failed = True
                each.obstacles = [Obstacle("no-topology")]
                continue
            yield Wanted(each.pods, each.count, flavors.pop(), implied)

    def _place(self, assignment: Assignment) -> None:
        if not self._wants_place:
            return
        wanted = self.wanted(assignment)
        if any(each.failed for each in assignment.sets):
            assignment.fail()
            return
        if not wanted:
            return
        forests = self._state.forests_of(self._queue.name)
        if assignment.mode is Mode.FIT:
            placed, unplaced = place_all(forests, wanted)
            if unplaced is None:
                assignment.take(wanted, placed)
                return
            assignment.of(unplaced.pod_set).obstacles.append(_no_place(unplaced))
            assignment.set_mode(unplaced.pod_set, Mode.PREEMPT)
        _, unplaced = self._state.empty.place(self._queue.name, wanted)
        if unplaced is not None:
            assignment.of(unplaced.pod_set).obstacles.append(_no_place(unplaced, empty=True))
            assignment.set_mode(unplaced.pod_set, Mode.NO_FIT)
            return
        for want in wanted:
            assignment.set_mode(want.pods.name, Mode.PREEMPT)


def _mode(way: Way) -> Mode:
    if way is Way.FIT:
        return Mode.FIT
    return Mode.NO_FIT if way is Way.NO_FIT else Mode.PREEMPT


def _no_place(unplaced: Unplaced, *, empty: bool = False) -> Obstacle:
    kind = "no-place-ever" if empty else "place"
    short = unplaced.asked - unplaced.fit
    return Obstacle(kind, short=short, detail=unplaced.level)
