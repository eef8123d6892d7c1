"""What a job that preempts others asks for, and which of them it does not need after all.

Source: Kueue 0.19.2, pkg/scheduler/preemption/preemption.go (workloadFits, fillBackWorkloads).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trainyard.extensions.forecast.simulate.candidates import Candidate
from trainyard.extensions.forecast.simulate.objects import Cell
from trainyard.extensions.forecast.simulate.placing import Wanted, place_all
from trainyard.extensions.forecast.simulate.state import State, Work


class Need:
    """What a job that preempts asks for, and whether it has it by now."""

    def __init__(
        self,
        state: State,
        work: Work,
        cells: frozenset[Cell],
        usage: Mapping[Cell, int],
        wanted: Sequence[Wanted] = (),
    ) -> None:
        self.state = state
        self.work = work
        self.cells = cells
        self.usage = usage
        self.wanted = wanted
        self.queue = state.queues[work.queue]
        self.account = state.accounts[work.queue]

    def fits(self, *, borrowing: bool = True) -> bool:
        """Whether quota and places are there; without borrowing if that is not allowed."""
        for cell, amount in self.usage.items():
            if not borrowing and self.account.exceeds_nominal(cell, amount):
                return False
            if amount > self.account.available(cell):
                return False
        if not self.wanted:
            return True
        _, unplaced = place_all(self.state.forests_of(self.queue.name), self.wanted)
        return unplaced is None


def give_back(need: Need, taken: list[Candidate], *, borrowing: bool) -> list[Candidate]:
    """Without those that turn out not to be needed, from the last to the first; they are in the books again."""
    kept = list(taken)
    for index in range(len(kept) - 2, -1, -1):
        need.state.count(kept[index].work, 1)
        if need.fits(borrowing=borrowing):
            # The order of the rest is Kueue's: the last one moves up.
            kept[index] = kept[-1]
            kept.pop()
        else:
            need.state.count(kept[index].work, -1)
    return kept
