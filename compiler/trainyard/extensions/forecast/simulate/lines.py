"""The queues of a cluster as the scheduler sees them: the head of each, and which are woken together.

Source: Kueue 0.19.2, pkg/cache/queue/manager.go and inadmissible_workloads.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainyard.extensions.forecast.simulate.pending import Outcome, Pending
from trainyard.extensions.forecast.simulate.state import State, Work


class Lines:
    """The jobs that wait, by queue. Only queues with jobs to look at are gone through."""

    def __init__(self, state: State) -> None:
        self.of = {name: Pending(queue) for name, queue in state.queues.items()}
        self._order = {name: index for index, name in enumerate(self.of)}
        self._awake: set[str] = set()
        self._tree_of = state.tree_of
        self._trees: dict[int, list[str]] = {}
        for name, tree in self._tree_of.items():
            self._trees.setdefault(tree, []).append(name)

    def add(self, work: Work) -> None:
        """Enter a job that is new, or was evicted, into its queue."""
        self.of[work.queue].add(work)
        self._awake.add(work.queue)

    def heads(self) -> list[Work]:
        """The job of each queue to look at next, taken out of its queue."""
        found = []
        for name in sorted(self._awake, key=self._order.__getitem__):
            work = self.of[name].pop()
            if work is None:
                self._awake.discard(name)
            else:
                found.append(work)
        return found

    def put_back(self, work: Work, outcome: Outcome) -> bool:
        """Enter a job that was looked at and is not admitted; whether it is looked at again before something is given
        back, as nothing but itself is."""
        pending = self.of[work.queue]
        first = pending.first
        pending.put_back(work, outcome)
        self._awake.add(work.queue)
        return work.key in pending.waiting and pending.first == first

    def remove(self, work: Work) -> None:
        """Forget a job that is gone, or admitted."""
        self.of[work.queue].remove(work)

    def trees(self, names: Iterable[str]) -> list[str]:
        """All queues of the trees that some queues are in."""
        trees = dict.fromkeys(self._tree_of[name] for name in sorted(names))
        return [name for tree in trees for name in self._trees[tree]]

    def wake(self, names: Iterable[str]) -> None:
        """Something was given back: all jobs of the trees of these queues are looked at again."""
        for name in self.trees(names):
            self.of[name].wake()
            self._awake.add(name)

    def waiting(self, names: Iterable[str]) -> Iterator[Work]:
        """All jobs that wait in some queues."""
        for name in names:
            yield from self.of[name].all()
