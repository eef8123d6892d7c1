"""The simulation with nothing kept, passed over or stopped early: slow, and plain to read. The fast one must equal it.

Queues are sorted for each look, every candidate of a preemption is listed and tried, places are found by counting all
domains anew, and jobs that preempt each other without an end do so until a simulation gives up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

from trainyard.extensions.forecast.simulate import admission, preemption, reasons, simulator
from trainyard.extensions.forecast.simulate.counts import Domain
from trainyard.extensions.forecast.simulate.objects import Cell
from trainyard.extensions.forecast.simulate.preemption import Candidate, Way
from trainyard.extensions.forecast.simulate.state import Obstacle, State, Work, precedence
from trainyard.extensions.forecast.simulate.topology import PODS, Forest, Placed, Unplaced, Wanted


class Pending(simulator.Pending):
    """A queue that looks through all of its jobs for the next one."""

    def pop(self) -> Work | None:
        if not self.waiting:
            return None
        first = min(self.waiting.values(), key=lambda work: (work.key != self.first, work.rank))
        return self.waiting.pop(first.key)


class Candidates(preemption.Candidates):
    """All candidates in a list, each tried out."""

    def valid(self, *, borrowing: bool) -> Iterator[Candidate]:
        policy = self._queue.preemption
        found = []
        for source in (*self._closer_queues, *self._other_queues):
            closer = source in self._closer_queues
            for work in self._state.works[source.queue].values():
                if not self._may(work, policy.reclaim):
                    continue
                if_borrowing = closer or self._while_borrowing(work)
                if if_borrowing or not borrowing:
                    up_to = Candidate(work, self._reason(work, closer=closer), source.cohort)
                    found.append((not closer, precedence(work), up_to))
        found.sort(key=lambda each: each[:2])
        for _, _, candidate in found:
            account = self._state.accounts[candidate.work.queue]
            if account.is_within(self._cells):
                continue
            if not self._is_path_within(account, candidate.up_to):
                yield candidate
        own = [
            work
            for work in self._state.works[self._queue.name].values()
            if self._may(work, policy.within)
        ]
        yield from (
            Candidate(work, preemption.WITHIN, None) for work in sorted(own, key=precedence)
        )

    def _may(self, work: Work, policy: str) -> bool:
        uses = any(cell in self._cells for cell in work.usage())
        return policy != "Never" and uses and preemption.may_preempt(self._work, work, policy)

    def _reason(self, work: Work, *, closer: bool) -> str:
        if not closer and self._while_borrowing(work):
            return preemption.WHILE_BORROWING
        return preemption.RECLAIM


class Assigner(admission.Assigner):
    """Every resource is looked at, and nothing that was foreseen is taken for the answer."""

    def _resource_mode(self, cell: Cell, amount: int, worst: Any) -> tuple[Any, Obstacle | None]:
        return super()._resource_mode(cell, amount, admission._GranularMode(Way.FIT, 0))

    def targets(self, assignment: Any) -> list[Candidate]:
        self._foreseen.clear()
        return super().targets(assignment)


def place_all(
    forests: Mapping[str, Forest], wanted: Sequence[Wanted], *, empty: bool = False
) -> tuple[dict[str, Placed], Unplaced | None]:
    """Places by counting every domain for each set of pods, and sorting them."""
    placed: dict[str, Placed] = {}
    taken: dict[tuple[str, ...], dict[str, int]] = {}
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


def _place(forest: Forest, want: Wanted, taken: Any, *, empty: bool) -> Placed | Unplaced:
    placement = want.pods.placement
    anywhere = want.implied or (placement is not None and placement.mode == "unconstrained")
    label = forest.levels[-1]
    if placement is not None and not anywhere:
        label = str(placement.level)
    level = forest.level(label)
    if level is None:
        return Unplaced(want.pods.name, label, 0, want.asked)
    counts = _counts(forest, want, taken, empty=empty)
    required = placement is not None and placement.mode == "required"
    while True:
        domains = _sorted(forest.by_level[level], counts, anywhere=anywhere)
        alone = [each for each in domains if counts[each] >= want.asked]
        if alone:
            chosen = [min(alone, key=lambda each: (counts[each], each.values))]
            break
        if required and not anywhere:
            return Unplaced(
                want.pods.name, label, max(map(counts.get, domains), default=0), want.asked
            )
        if anywhere or level == 0:
            if sum(counts[each] for each in domains) < want.asked:
                fit = sum(counts[each] for each in domains)
                return Unplaced(want.pods.name, label, fit, want.asked)
            chosen = domains
            break
        level -= 1
    shares = _shares(chosen, counts, want.asked, anywhere=anywhere)
    for _ in range(level, len(forest.levels) - 1):
        lower = [below for domain, _ in shares for below in domain.below]
        ranked = _sorted(lower, counts, anywhere=anywhere)
        shares = _shares(ranked, counts, want.asked, anywhere=anywhere)
    shares.sort(key=lambda share: share[0].values)
    return {domain.id: count for domain, count in shares if count}


def _counts(forest: Forest, want: Wanted, taken: Any, *, empty: bool) -> dict[Domain, int]:
    counts = {domain: 0 for level in forest.by_level for domain in level}
    for leaf in forest._matching_leaves(want.pods):
        used = taken.get(leaf.id)
        counts[leaf] = forest.pods(leaf, want.pods.requests, used, empty=empty)
    for level in reversed(forest.by_level[:-1]):
        for domain in level:
            counts[domain] = sum(counts[below] for below in domain.below)
    return counts


def _sorted(domains: Sequence[Domain], counts: Any, *, anywhere: bool) -> list[Domain]:
    sign = 1 if anywhere else -1
    return sorted(domains, key=lambda domain: (sign * counts[domain], domain.values))


def _shares(
    domains: Sequence[Domain], counts: Any, asked: int, *, anywhere: bool
) -> list[tuple[Domain, int]]:
    shares: list[tuple[Domain, int]] = []
    left = asked
    for index, first in enumerate(domains):
        domain = first
        if not anywhere and counts[domain] >= left:
            fitting = [each for each in domains[index:] if counts[each] >= left]
            domain = min(fitting, key=lambda each: (counts[each], each.values))
        if counts[domain] >= left:
            return [*shares, (domain, left)]
        left -= counts[domain]
        shares.append((domain, counts[domain]))
    return shares


def waited_for(state: State, work: Work) -> list[Work]:
    """For whom a job waits: one admitted job after the other is taken away until it fits, and then back."""
    admitted = [each for related in reasons._related_jobs(state, work) for each in related]
    gone: list[Work] = []
    while not _fits_without(state, work, gone):
        if len(gone) == len(admitted):
            return []
        gone = admitted[: len(gone) + 1]
    for other in reversed(list(gone)):
        fewer = [each for each in gone if each is not other]
        if _fits_without(state, work, fewer):
            gone = fewer
    return gone


def _fits_without(state: State, work: Work, gone: Sequence[Work]) -> bool:
    work.progress = None
    with state.without(gone):
        return Assigner(state, work).assign().mode is admission.Mode.FIT


@contextmanager
def naively() -> Iterator[None]:
    """Simulate in this way."""
    package = "trainyard.extensions.forecast.simulate"
    with ExitStack() as patches:
        for target, new in (
            (f"{package}.simulator.Pending", Pending),
            (f"{package}.preemption.Candidates", Candidates),
            (f"{package}.preemption._may_suffice", lambda *_, borrowing: True),
            (f"{package}.preemption._is_hopeless", lambda _: False),
            (f"{package}.admission.Assigner", Assigner),
            (f"{package}.reasons.Assigner", Assigner),
            (f"{package}.simulator.Repeats.period", lambda *_: 0),
            *((f"{package}.{each}.place_all", place_all) for each in _PLACING),
        ):
            patches.enter_context(patch(target, new))
        yield


_PLACING = ("topology", "admission", "preemption", "witness")
