"""For whom a job waits: admitted jobs without which it would fit, as few as none can be left out."""

from __future__ import annotations

from collections.abc import Container, Sequence

from compiler.simulate.assigning import Assigner
from compiler.simulate.assignment import Mode
from compiler.simulate.state import State, Work, precedence


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
    admitted = _related(state, work)
    gone = 0
    while not _fits(state, work):
        if gone == len(admitted):
            _count(state, admitted, 1)
            return []
        more = admitted[gone : 2 * gone + 1]
        _count(state, more, -1)
        gone += len(more)
    return admitted[:gone]


def _count(state: State, works: Sequence[Work], sign: int) -> None:
    for work in works:
        state.count(work, sign)


def _related(state: State, work: Work) -> list[Work]:
    """The admitted jobs that share quotas with the queue, then those that share nodes; of each the least important
    first."""
    forests = state.forests_of(work.queue)
    hosts = [forest.leaves for forest in forests.values()]
    tree = state.tree_of[work.queue]
    of_tree: list[Work] = []
    of_nodes: list[Work] = []
    for queue, works in state.works.items():
        if state.tree_of[queue] == tree:
            of_tree += works.values()
        else:
            of_nodes += [each for each in works.values() if _is_on(each, hosts)]
    return [*sorted(of_tree, key=precedence), *sorted(of_nodes, key=precedence)]


def _is_on(work: Work, hosts: Sequence[Container[tuple[str, ...]]]) -> bool:
    """Whether pods of a job are in some domains."""
    return any(id in leaves for _, _, placed in work.places() for id in placed for leaves in hosts)


def _fits(state: State, work: Work) -> bool:
    work.progress = None
    return Assigner(state, work, preempts=False).assign().mode is Mode.FIT
