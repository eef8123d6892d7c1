"""The domains of a topology: which nodes are in which, and how many pods each has room for.

Source: Kueue 0.19.2, pkg/cache/scheduler: tas_flavor_snapshot.go, tas_topology_tree.go,
scheduling_simulator_default.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from compiler.simulate.matching import matches, untolerated
from compiler.simulate.objects import Amounts, Flavor, Node, PodSet

HOSTNAME = "kubernetes.io/hostname"
PODS = "pods"


class Usage:
    """What the pods with a place use, by the domain of the lowest level; ``log`` names each that changed, in order."""

    def __init__(self) -> None:
        self.of: dict[tuple[str, ...], dict[str, int]] = {}
        self.log: list[tuple[str, ...]] = []


class _Counts:
    """How many pods of one shape have room in each lowest domain that takes them, as of a place in the log."""

    def __init__(self, leaves: list[Domain]) -> None:
        self.leaves = leaves
        self.of: dict[tuple[str, ...], int] = {}
        self.seen = 0


class Domain:
    """A domain: its values from the top level down, what is below it, and of a lowest one its nodes and room.

    ``id`` is what a placement names: of nodes the host name alone, else all values.
    """

    __slots__ = ("below", "count", "id", "nodes", "order", "room", "values")

    def __init__(self, values: tuple[str, ...], id: tuple[str, ...]) -> None:
        self.values = values
        self.id = id
        # Hosts below one parent differ in the last value alone, so this orders them as Kueue does.
        self.order = values
        self.below: list[Domain] = []
        self.nodes: list[Node] = []
        self.room: dict[str, int] = {}
        self.count = 0


class Forest:
    """The nodes of a flavor by the levels of its topology."""

    def __init__(
        self, flavor: Flavor, levels: tuple[str, ...], nodes: Iterable[Node], shared: Usage
    ) -> None:
        self.flavor = flavor
        self.levels = levels
        self.of_hosts = bool(levels) and levels[-1] == HOSTNAME
        # A node that two flavors select is counted once, so hosts share what is used of them.
        self.usage = shared if self.of_hosts else Usage()
        self.by_level: list[list[Domain]] = [[] for _ in levels]
        self._index: dict[tuple[str, ...], Domain] = {}
        self.leaves: dict[tuple[str, ...], Domain] = {}
        self._counts: dict[str, _Counts] = {}
        for node in nodes:
            if self._has(node):
                self._add(node)
        for level in self.by_level:
            level.sort(key=lambda domain: domain.order)
        for domain in self._index.values():
            domain.below.sort(key=lambda below: below.order)

    def _has(self, node: Node) -> bool:
        labels = node.labels
        selected = all(labels.get(key) == value for key, value in self.flavor.labels.items())
        return selected and all(level in labels for level in self.levels)

    def _add(self, node: Node) -> None:
        values = tuple(node.labels[level] for level in self.levels)
        above: Domain | None = None
        for depth in range(1, len(values) + 1):
            path = values[:depth]
            domain = self._index.get(path)
            if domain is None:
                is_host = self.of_hosts and depth == len(values)
                domain = Domain(path, path[-1:] if is_host else path)
                self._index[path] = domain
                self.by_level[depth - 1].append(domain)
                if above is not None:
                    above.below.append(domain)
            above = domain
        if above is None:
            return
        self.leaves[above.id] = above
        above.nodes.append(node)
        for resource, amount in node.allocatable.items():
            above.room[resource] = above.room.get(resource, 0) + amount

    def level(self, label: str | None) -> int | None:
        """The place of a level among the levels; ``None`` if the topology does not have it."""
        if label in self.levels:
            return self.levels.index(label)
        return None

    def place(
        self, placed: Mapping[tuple[str, ...], int], requests: Amounts, sign: int = 1
    ) -> None:
        """Count pods as placed, or with ``-1`` as gone."""
        for id, count in placed.items():
            used = self.usage.of.setdefault(id, {})
            self.usage.log.append(id)
            for resource, amount in ((PODS, 1), *requests.items()):
                used[resource] = used.get(resource, 0) + sign * amount * count

    def has_room(self, placed: Mapping[tuple[str, ...], int], requests: Amounts) -> bool:
        """Whether a placement that was found before still fits."""
        for id, count in placed.items():
            leaf = self.leaves.get(id)
            if leaf is None or self._pods(leaf, requests, None, empty=False) < count:
                return False
        return True

    def count(
        self, pods: PodSet, taken: Mapping[tuple[str, ...], Mapping[str, int]], *, empty: bool
    ) -> None:
        """Count in every domain how many pods have room; ``empty`` as if no job had a place."""
        for level in self.by_level:
            for domain in level:
                domain.count = 0
        counts = self._counted(pods, empty=empty)
        for leaf in counts.leaves:
            leaf.count = counts.of[leaf.id]
        for id, used in taken.items():
            if id in counts.of:
                leaf = self.leaves[id]
                leaf.count = self._pods(leaf, pods.requests, used, empty=empty)
        for level in reversed(self.by_level[:-1]):
            for domain in level:
                domain.count = sum([below.count for below in domain.below])

    def _counted(self, pods: PodSet, *, empty: bool) -> _Counts:
        """The counts of a shape. They are kept, and counted again where something changed."""
        key = repr((pods.requests, pods.selector, pods.terms, pods.tolerations, empty))
        counts = self._counts.get(key)
        log = self.usage.log
        if counts is None:
            counts = _Counts(list(self._matching(pods)))
            self._counts[key] = counts
            changed: Iterable[Domain] = counts.leaves
        elif empty:
            return counts
        else:
            ids = set(log[counts.seen :]) & counts.of.keys()
            changed = [self.leaves[id] for id in ids]
        counts.seen = len(log)
        for leaf in changed:
            counts.of[leaf.id] = self._pods(leaf, pods.requests, None, empty=empty)
        return counts

    def _matching(self, pods: PodSet) -> Iterator[Domain]:
        """The lowest domains whose nodes take the pods. Only hosts are asked: what is above them has no taints."""
        tolerations = (*pods.tolerations, *self.flavor.tolerations)
        selector = pods.selector or {}
        for leaf in self.leaves.values():
            node = leaf.nodes[0]
            if self.of_hosts and untolerated(node.taints, tolerations) is not None:
                continue
            if not self.of_hosts or matches(node.labels, selector, pods.terms):
                yield leaf

    def _pods(
        self, leaf: Domain, requests: Amounts, taken: Mapping[str, int] | None, *, empty: bool
    ) -> int:
        used = {} if empty else self.usage.of.get(leaf.id, {})
        most: int | None = None
        for resource, amount in ((PODS, 1), *requests.items()):
            if amount == 0:
                continue
            room = leaf.room.get(resource, 0) - used.get(resource, 0)
            if taken:
                room -= taken.get(resource, 0)
            pods = max(0, room // amount)
            most = pods if most is None else min(most, pods)
        return most or 0
