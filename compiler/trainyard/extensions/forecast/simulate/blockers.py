"""For whom a job waits: admitted jobs without which it would fit, as few as none can be left out."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from trainyard.extensions.forecast.simulate.assigning import Assigner
from trainyard.extensions.forecast.simulate.assignment import Mode
from trainyard.extensions.forecast.simulate.state import State, Work, precedence


def blockers(state: State, work: Work) -> list[Work]:
    """The admitted jobs for which a job waits; none if it would fit beside all, or without any.

    Jobs of its cohorts are taken away, the last admitted of the lowest priority first, until it fits, then those of
    others on its nodes. Then all that it fits beside come back, in the reverse order, so that what remains could most
    easily go. Ever more are taken away and come back at once, and fewer again where that was too many: the fewer jobs
    remain, the fewer tries it takes.
    """
    gone = _without_which_it_fits(state, work)
    back = list(reversed(gone))
    found: list[Work] = []
    index, step = 0, 1
    while index < len(back):
        some = back[index : index + step]
        _count(state, some, 1)
        if _fits(state, work):
            index += len(some)
            step *= 2
            continue
        _count(state, some, -1)
        if len(some) == 1:
            found.append(some[0])
            index += 1
        step = max(1, len(some) // 2)
    _count(state, found, 1)
    return list(reversed(found))


def _without_which_it_fits(state: State, work: Work) -> list[Work]:
    """Enough jobs, which are gone from the books; none if the job does not fit without any."""
    gone: list[Work] = []
    for admitted in _related(state, work):
        taken = 0
        while taken < len(admitted):
            if _fits(state, work):
                return gone
            more = admitted[taken : 2 * taken + 1]
            _count(state, more, -1)
            taken += len(more)
            gone += more
    if _fits(state, work):
        return gone
    _count(state, gone, 1)
    return []


def _count(state: State, works: Sequence[Work], sign: int) -> None:
    for work in works:
        state.count(work, sign)


def _related(state: State, work: Work) -> Iterator[list[Work]]:
    """The admitted jobs that share quotas with the queue, then those that share nodes; of each the least important
    first."""
    tree = state.tree_of[work.queue]
    queues = [queue for queue in state.works if state.tree_of[queue] == tree]
    yield sorted((each for queue in queues for each in state.works[queue].values()), key=precedence)
    hosts = [forest.leaves for forest in state.forests_of(work.queue).values()]
    if hosts:
        others = [queue for queue in state.works if state.tree_of[queue] != tree]
        works = (each for queue in others for each in state.works[queue].values())
        yield sorted((each for each in works if _is_on(each, hosts)), key=precedence)


def _is_on(work: Work, hosts: Sequence[Container[tuple[str, ...]]]) -> bool:
    """Whether pods of a job are in some domains."""
    return any(id in leaves for _, _, placed in work.places() for id in placed for leaves in hosts)


def _fits(state: State, work: Work) -> bool:
    work.progress = None
    return Assigner(state, work, preempts=False).assign().mode is Mode.FIT
