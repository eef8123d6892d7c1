"""Queues whose jobs may be in each other's way: of one tree of cohorts, or with topologies of the same nodes."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping

from trainyard.extensions.forecast.simulate.state import State


def neighbourhoods(state: State) -> Mapping[str, frozenset[str]]:
    """The queues that share anything with each queue, itself included."""
    users: dict[Hashable, list[str]] = {}
    shares = {name: list(_shared(state, name)) for name in state.queues}
    for name, shared in shares.items():
        for each in shared:
            users.setdefault(each, []).append(name)
    found: dict[str, frozenset[str]] = {}
    for name in state.queues:
        if name not in found:
            group = _reached(name, shares, users)
            found |= dict.fromkeys(group, group)
    return found


def _reached(
    first: str, shares: Mapping[str, list[Hashable]], users: dict[Hashable, list[str]]
) -> frozenset[str]:
    group = {first}
    left = [first]
    while left:
        for shared in shares[left.pop()]:
            # Each is gone through once: who uses it is in the group then.
            more = [name for name in users.pop(shared, ()) if name not in group]
            group.update(more)
            left += more
    return frozenset(group)


def _shared(state: State, queue: str) -> Iterator[Hashable]:
    """The tree of a queue, and the nodes or lowest domains of its topologies."""
    yield state.tree_of[queue]
    for forest in state.forests_of(queue).values():
        if forest.of_hosts:
            yield from forest.leaves
        else:
            yield forest.flavor.name
