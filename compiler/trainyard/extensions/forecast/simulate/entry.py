"""One look at one job: what it would get, whom it would preempt, and where its pods would go.

Source: Kueue 0.19.2, pkg/scheduler/scheduler.go (getAssignments, updateAssignmentForTAS, PodSetReducer).
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from trainyard.extensions.forecast.simulate.assigning import Assigner
from trainyard.extensions.forecast.simulate.assignment import Assignment, Mode
from trainyard.extensions.forecast.simulate.candidates import Candidate
from trainyard.extensions.forecast.simulate.objects import Cell
from trainyard.extensions.forecast.simulate.placing import place_all
from trainyard.extensions.forecast.simulate.state import State, Work


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
        smaller = self._smaller(assigner)
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

    def _smaller(self, assigner: Assigner) -> tuple[Assignment, list[Candidate]] | None:
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
        related = [work for work in gone if _is_on(work, ids)]
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


def _is_on(work: Work, ids: Container[tuple[str, ...]]) -> bool:
    """Whether pods of a job are on some nodes, or in some domains."""
    return any(id in ids for _, _, placed in work.places() for id in placed)
