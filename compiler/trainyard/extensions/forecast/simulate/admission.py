"""One cycle of the scheduler: the head of each queue is looked at, then they are admitted in their order.

From the top: the cycle, the order of the heads, one look at one job (what it would get, whom it would preempt, where
its pods would go), and which flavors it gets: the first that is good enough in each group of resources, then a place in
its topology.

Source: Kueue 0.19.2, pkg/scheduler/scheduler.go (schedule, processEntry, getAssignments, updateAssignmentForTAS,
PodSetReducer) and pkg/scheduler/flavorassigner/flavorassigner.go and tas_flavorassigner.go.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from enum import Enum, auto
from typing import NamedTuple

from trainyard.extensions.forecast.simulate.objects import Cell, Group, PodSet, in_order
from trainyard.extensions.forecast.simulate.preemption import Candidate, Need, Way, foresee, targets
from trainyard.extensions.forecast.simulate.quota import Account, Share, share
from trainyard.extensions.forecast.simulate.state import (
    Assignment,
    Choice,
    Mode,
    Obstacle,
    SetAssignment,
    State,
    Work,
)
from trainyard.extensions.forecast.simulate.topology import PODS, Unplaced, Wanted, place_all


class Outcome(Enum):
    """Why a job that was looked at goes back to its queue."""

    OTHER = auto()
    NO_FIT = auto()
    NO_CANDIDATES = auto()
    PREEMPTING = auto()
    TAKEN = auto()
    WRONG_NAMESPACE = auto()


PREEMPTED = "Preempted"


class Cycle:
    """What a cycle decides: jobs to admit, jobs that are preempted and by whom, and the others with the reason."""

    def __init__(self, state: State) -> None:
        self._state = state
        self.admitted: list[Entry] = []
        self.preempted: dict[str, tuple[Work, Work, str]] = {}
        self.back: list[tuple[Entry, Outcome]] = []
        self._counted: list[tuple[Entry, Mapping[Cell, int]]] = []

    def run(self, heads: list[Work]) -> None:
        """Look at the heads, and decide."""
        entries = [Entry(self._state, work) for work in heads]
        for entry in entries:
            entry.look()
        for entry in entries_in_order(self._state, entries):
            self._decide(entry)
        for entry, usage in self._counted:
            entry.count(usage, -1)

    def _decide(self, entry: Entry) -> None:
        """Admit the job, preempt others for it, or put it back into its queue."""
        outcome = self._outcome(entry, still_fits=self._still_fits(entry))
        if outcome in (None, Outcome.PREEMPTING):
            self._count_in_cycle(entry, entry.assignment.usage)
        if outcome is None:
            self.admitted.append(entry)
            return
        if outcome is Outcome.PREEMPTING:
            for target in entry.targets:
                self.preempted[target.work.key] = (target.work, entry.work, target.reason)
        self._put_back(entry, outcome)
        if outcome is Outcome.NO_CANDIDATES:
            self._keep_quota(entry)

    def _outcome(self, entry: Entry, *, still_fits: bool) -> Outcome | None:
        """Why the job goes back to its queue; ``None`` if it is admitted."""
        mode = entry.assignment.mode
        if mode is Mode.NO_FIT:
            return Outcome.NO_FIT
        if mode is Mode.PREEMPT and not entry.targets:
            return Outcome.NO_CANDIDATES
        if not still_fits or any(each.work.key in self.preempted for each in entry.targets):
            return Outcome.TAKEN
        return None if mode is Mode.FIT else Outcome.PREEMPTING

    def _still_fits(self, entry: Entry) -> bool:
        """Whether quota and places are still there; where places are not, others are looked for."""
        has_quota, has_places = self._has_quota_and_places(entry)
        if has_quota and not has_places:
            # Heads of other queues chose their places at the same time, maybe the same ones.
            entry.work.progress = None
            entry.look(entry.flavors())
            has_quota, has_places = self._has_quota_and_places(entry)
        return has_quota and has_places

    def _has_quota_and_places(self, entry: Entry) -> tuple[bool, bool]:
        """Whether they are there once all preempted jobs are gone, with those that this one preempts."""
        leaving = [work for work, _, _ in self.preempted.values()]
        leaving += [each.work for each in entry.targets if each.work.key not in self.preempted]
        has_quota = entry.has_quota(leaving)
        return has_quota, has_quota and entry.has_places(leaving)

    def _put_back(self, entry: Entry, outcome: Outcome) -> None:
        self.back.append((entry, outcome))
        if outcome is Outcome.TAKEN:
            entry.work.obstacles = [Obstacle("taken")]
        elif outcome is not Outcome.PREEMPTING:
            entry.work.obstacles = entry.assignment.obstacles()

    def _count_in_cycle(self, entry: Entry, usage: Mapping[Cell, int]) -> None:
        entry.count(usage, 1)
        self._counted.append((entry, usage))

    def _keep_quota(self, entry: Entry) -> None:
        """What a job that can preempt nobody needs is kept from other queues for this cycle, unless its queue can take
        its quota back at any time."""
        queue = self._state.queues[entry.work.queue]
        if queue.preemption.reclaim == "Any":
            return
        account = self._state.accounts[queue.name]
        kept: dict[Cell, int] = {}
        for cell, amount in entry.assignment.usage.items():
            balance = account.balance(cell)
            own_left = balance.nominal - balance.used
            if entry.assignment.borrowing == 0:
                kept[cell] = max(0, min(amount, own_left))
            elif balance.borrowing is None:
                kept[cell] = amount
            else:
                kept[cell] = min(amount, own_left + balance.borrowing)
        self._count_in_cycle(entry, kept)


# The order in which the heads of queues are admitted: who borrows least, then priority, then age; or by fair shares.
#
# Source: Kueue 0.19.2, pkg/scheduler/scheduler.go (makeClassicalIterator) and fair_sharing_iterator.go.


def entries_in_order(state: State, entries: list[Entry]) -> Iterator[Entry]:
    """The entries, each given out when its turn has come: under fair sharing that depends on those before it."""
    if not state.world.fair:
        yield from sorted(entries, key=_classical_rank)
        return
    left = {entry.work.queue: entry for entry in entries}
    while left:
        account = state.accounts[next(iter(left))]
        if account.above is None:
            yield left.pop(account.name)
            continue
        root = account.root()
        winner = _fair_winner(root, left, _shares_with_jobs(state, root, left))
        if winner is None:
            return
        yield left.pop(winner.work.queue)


def _classical_rank(entry: Entry) -> tuple[int, int, int, int]:
    return entry.assignment.borrowing, *entry.work.rank


_SharesByJob = dict[tuple[str, str], Share]


def _shares_with_jobs(state: State, root: Account, left: dict[str, Entry]) -> _SharesByJob:
    """The share of each queue and cohort with its job admitted, by the cohort above it and the job."""
    shares: _SharesByJob = {}
    for entry in left.values():
        account = state.accounts[entry.work.queue]
        if account.root() is not root:
            continue
        state.count_quota(account.name, entry.assignment.usage, 1)
        found = share(account)
        for cohort in account.path():
            shares[cohort.name, entry.work.key] = found
            found = share(cohort)
        state.count_quota(account.name, entry.assignment.usage, -1)
    return shares


def _fair_winner(cohort: Account, left: dict[str, Entry], shares: _SharesByJob) -> Entry | None:
    found = [_fair_winner(lower, left, shares) for lower in cohort.cohorts]
    found += [left.get(queue.name) for queue in cohort.queues]
    entries = [entry for entry in found if entry is not None]
    if not entries:
        return None
    return min(entries, key=lambda entry: _fair_rank(entry, shares[cohort.name, entry.work.key]))


def _fair_rank(entry: Entry, found: Share) -> tuple[bool, tuple[bool, float], int, int]:
    asked = {cell for cell, amount in entry.assignment.usage.items() if amount > 0}
    borrows = not asked.isdisjoint(found.borrowed)
    priority, since, _ = entry.work.rank
    return borrows, found.rank, priority, since


class Entry:
    """The head of a queue in a cycle."""

    def __init__(self, state: State, work: Work) -> None:
        self.work = work
        self._state = state
        self.assignment = Assignment()
        self.targets: list[Candidate] = []

    def look(self, only: Mapping[tuple[str, str], str] | None = None) -> None:
        """Find out what the job would get."""
        assigner = Assigner(self._state, self.work, only)
        self.assignment, self.targets = self._first_that_fits(assigner)
        if self.assignment.mode is Mode.PREEMPT:
            self._reserve_places(assigner)

    def _first_that_fits(self, assigner: Assigner) -> tuple[Assignment, list[Candidate]]:
        """All pods, or where the job says how few will do, as many as fit."""
        whole = assigner.assign()
        found = self._if_possible(whole, assigner)
        if found is not None:
            return found
        smaller = self._fewer_pods(assigner)
        return smaller or (whole, [])

    def _if_possible(
        self, assignment: Assignment, assigner: Assigner
    ) -> tuple[Assignment, list[Candidate]] | None:
        if assignment.mode is Mode.FIT:
            return assignment, []
        if assignment.mode is Mode.PREEMPT:
            found = assigner.targets(assignment)
            if found:
                return assignment, found
        return None

    def _fewer_pods(self, assigner: Assigner) -> tuple[Assignment, list[Candidate]] | None:
        """By halves, as Kueue searches: it takes more pods to be harder to admit."""
        sets = self.work.job.pod_sets
        spare = [each.count - (each.count if each.least is None else each.least) for each in sets]
        total = sum(spare)
        low, high = 0, total + 1 if total else 0
        best: tuple[int, tuple[Assignment, list[Candidate]]] | None = None
        while low < high:
            middle = (low + high) // 2
            counts = [
                each.count - part * middle // total for each, part in zip(sets, spare, strict=True)
            ]
            found = self._if_possible(assigner.assign(counts), assigner)
            if found is None:
                low = middle + 1
            else:
                best = middle, found
                high = middle
        if best is None or best[0] != low:
            return None
        return best[1]

    def _reserve_places(self, assigner: Assigner) -> None:
        """Keep the places that the job will have: after its preemptions, or if it can preempt nobody, in an empty
        cluster, so that no job of lower priority takes them in this cycle."""
        wanted = assigner.wanted(self.assignment)
        if not wanted:
            return
        forests = self._state.forests_of(self.work.queue)
        if self.targets:
            with self._state.without(candidate.work for candidate in self.targets):
                placed, unplaced = place_all(forests, wanted)
        else:
            placed, unplaced = self._state.empty.place(self.work.queue, wanted)
        if unplaced is None:
            self.assignment.take(wanted, placed)

    def flavors(self) -> Mapping[tuple[str, str], str]:
        """The flavors that were found, by set and resource."""
        return {
            (each.pods.name, resource): choice.flavor
            for each in self.assignment.sets
            for resource, choice in each.choices.items()
        }

    def has_quota(self, gone: Sequence[Work]) -> bool:
        """Whether the quota is still there, once jobs are gone."""
        tree = self._state.tree_of[self.work.queue]
        related = [work for work in gone if self._state.tree_of[work.queue] == tree]
        if not related:
            return self._has_quota()
        with self._state.without(related):
            return self._has_quota()

    def _has_quota(self) -> bool:
        account = self._state.accounts[self.work.queue]
        asked = self.assignment.usage.items()
        return all(account.available(cell) >= amount for cell, amount in asked)

    def has_places(self, gone: Sequence[Work]) -> bool:
        """Whether the places are still there, once jobs are gone."""
        places = list(self.assignment.places())
        ids = {id for _, _, placed in places for id in placed}
        related = [work for work in gone if _has_pods_on(work, ids)]
        forests = self._state.forests
        with self._state.without(related):
            return all(
                forests[flavor].has_room(placed, pods.requests) for flavor, pods, placed in places
            )

    def count(self, usage: Mapping[Cell, int], sign: int) -> None:
        """Count quotas and places as used within a cycle, or as free again."""
        self._state.count_quota(self.work.queue, usage, sign)
        for flavor, pods, placed in self.assignment.places():
            self._state.forests[flavor].place(placed, pods.requests, sign)


def _has_pods_on(work: Work, ids: Container[tuple[str, ...]]) -> bool:
    """Whether pods of a job are on some nodes, or in some domains."""
    return any(id in ids for _, _, placed in work.places() for id in placed)


_FARTHEST = 1 << 30


class _GranularMode(NamedTuple):
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
            self._place_sets(assignment)
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
            choices, obstacles = self._best_flavor(
                index, each.pods, group, resource, asked, assignment
            )
            if not choices:
                each.choices.clear()
                each.obstacles = obstacles
                return
            each.choices |= choices
            each.obstacles += obstacles

    def _best_flavor(
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
        best_way = _GranularMode(Way.NO_FIT, _FARTHEST)
        obstacles: list[Obstacle] = []
        tried = -1
        progress = self._work.progress
        first = progress.next(index, resource) if progress else 0
        self._foresees = self._preempts or len(group.flavors) > 1
        for tried in range(first, len(group.flavors)):
            name = group.flavors[tried]
            if self._only and self._only.get((pods.name, resource)) != name:
                continue
            refused = self._state.refusals.refusal(pods, self._queue.name, name, group)
            if refused is not None:
                obstacles.append(refused)
                continue
            choices, way = self._flavor_mode(name, asked, assignment, obstacles)
            if not self._goes_on(way):
                best, best_way = choices, way
                break
            if self._is_better(way, best_way):
                best, best_way = choices, way
        last = -1 if tried == len(group.flavors) - 1 else tried
        if last != -1:
            best = {name: choice._replace(tried=last) for name, choice in best.items()}
        return best, [] if best_way.way is Way.FIT else obstacles

    def _flavor_mode(
        self, flavor: str, asked: Mapping[str, int], assignment: Assignment, found: list[Obstacle]
    ) -> tuple[dict[str, Choice], _GranularMode]:
        choices: dict[str, Choice] = {}
        worst = _GranularMode(Way.FIT, 0)
        for resource, amount in asked.items():
            cell = Cell(flavor, resource)
            way, obstacle = self._resource_mode(cell, assignment.usage.get(cell, 0) + amount, worst)
            if obstacle is not None:
                found.append(obstacle)
            if way is not worst and self._is_better(worst, way):
                worst = way
            if worst.way is not Way.NO_FIT:
                choices[resource] = Choice(flavor, _mode_of_way(way.way), way.borrowing, -1)
        return choices, worst

    def _resource_mode(
        self, cell: Cell, amount: int, worst: _GranularMode
    ) -> tuple[_GranularMode, Obstacle | None]:
        """How a resource could be had; ``worst``: how those before it could be."""
        balance = self._account.balance(cell)
        most = balance.most()
        if amount > most:
            return _GranularMode(Way.NO_FIT, 0), Obstacle("most", *cell, short=amount - most)
        borrowing, may_reclaim = balance.distance(amount)
        available = max(0, balance.left())
        if amount <= available:
            return _GranularMode(Way.FIT, borrowing), None
        obstacle = Obstacle("unused", *cell, short=amount - available)
        if not self._foresees:
            return _GranularMode(Way.NO_FIT, borrowing), obstacle
        own = balance.nominal >= amount
        if own or may_reclaim or self._preempts_while_borrowing():
            if worst.way is Way.NO_CANDIDATES and worst.borrowing >= borrowing:
                # The flavor cannot be better than that, and not be borrowed from further away.
                return worst, obstacle
            way, borrowing, found = foresee(self._state, self._work, cell, amount, borrowing)
            self._foreseen[cell] = amount, found
            return _GranularMode(way, borrowing), obstacle
        return _GranularMode(Way.NO_FIT, borrowing), obstacle

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

    def _goes_on(self, way: _GranularMode) -> bool:
        if way.way in (Way.NO_FIT, Way.NO_CANDIDATES):
            return True
        if way.way in (Way.PREEMPT, Way.RECLAIM) and self._queue.next_if_preempting:
            return True
        return way.borrowing > 0 and self._queue.next_if_borrowing

    def _is_better(self, one: _GranularMode, other: _GranularMode) -> bool:
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
            assignment.wanted = (
                list(self._sets_that_want_places(assignment)) if self._wants_place else []
            )
        return assignment.wanted

    def _sets_that_want_places(self, assignment: Assignment) -> Iterator[Wanted]:
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

    def _place_sets(self, assignment: Assignment) -> None:
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
            assignment.assigned_set(unplaced.pod_set).obstacles.append(_place_obstacle(unplaced))
            assignment.set_mode(unplaced.pod_set, Mode.PREEMPT)
        _, unplaced = self._state.empty.place(self._queue.name, wanted)
        if unplaced is not None:
            assignment.assigned_set(unplaced.pod_set).obstacles.append(
                _place_obstacle(unplaced, empty=True)
            )
            assignment.set_mode(unplaced.pod_set, Mode.NO_FIT)
            return
        for want in wanted:
            assignment.set_mode(want.pods.name, Mode.PREEMPT)


def _mode_of_way(way: Way) -> Mode:
    if way is Way.FIT:
        return Mode.FIT
    return Mode.NO_FIT if way is Way.NO_FIT else Mode.PREEMPT


def _place_obstacle(unplaced: Unplaced, *, empty: bool = False) -> Obstacle:
    kind = "no-place-ever" if empty else "place"
    short = unplaced.asked - unplaced.fit
    return Obstacle(kind, short=short, detail=unplaced.level)
