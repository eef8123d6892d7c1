"""For whom a job waits: admitted jobs without which it would fit, as few as none can be left out of."""

from __future__ import annotations

from collections.abc import Container, Sequence

from compiler.simulate.assigning import Assigner
from compiler.simulate.assignment import Mode
from compiler.simulate.state import State, Work


def blockers(state: State, work: Work) -> list[Work]:
    """The admitted jobs for which a job waits; none if it would fit beside all, or without any.

    Jobs are taken away from the last that was admitted on until the job fits, then all that it fits beside come back:
    those of the highest priority and of the earliest admission first, so that what remains could most easily go.
    """
    admitted = _related(state, work)
    if not admitted or not _fits(state, work, admitted):
        return []
    low, high = 0, len(admitted)
    while low < high:
        middle = (low + high) // 2
        if _fits(state, work, admitted[:middle]):
            high = middle
        else:
            low = middle + 1
    gone = admitted[:high]
    for other in reversed(list(gone)):
        fewer = [each for each in gone if each is not other]
        if _fits(state, work, fewer):
            gone = fewer
    return gone


def _related(state: State, work: Work) -> list[Work]:
    """The admitted jobs that share quotas or nodes with the queue, the least important first."""
    account = state.accounts[work.queue]
    forests = state.forests_of(state.queues[work.queue])
    hosts = [forest.leaves for forest in forests.values()]
    related = []
    for queue, works in state.works.items():
        same_tree = state.accounts[queue].root() is account.root()
        related += [work for work in works.values() if same_tree or _is_on(work, hosts)]
    related.sort(key=lambda each: (each.job.priority, -each.reserved, -each.order))
    return related


def _is_on(work: Work, hosts: Sequence[Container[tuple[str, ...]]]) -> bool:
    """Whether pods of a job are in some domains."""
    return any(id in leaves for _, _, placed in work.places() for id in placed for leaves in hosts)


def _fits(state: State, work: Work, gone: Sequence[Work]) -> bool:
    work.progress = None
    with state.without(gone):
        return Assigner(state, work).assign().mode is Mode.FIT
