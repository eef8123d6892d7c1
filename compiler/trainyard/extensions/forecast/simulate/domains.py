"""The domains of a topology: which nodes are in which, and what the pods there use.

Source: Kueue 0.19.2, pkg/cache/scheduler: tas_flavor_snapshot.go, tas_topology_tree.go,
scheduling_simulator_default.go.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping

from trainyard.extensions.forecast.simulate.matching import matches, untolerated
from trainyard.extensions.forecast.simulate.objects import Amounts, Flavor, Node, PodSet
from trainyard.extensions.forecast.simulate.rooms import Domain, Rooms

HOSTNAME = "kubernetes.io/hostname"
PODS = "pods"


class Usage:
    """What the pods with a place use, by the domain of the lowest level; ``log`` names each that changed, in order."""

    def __init__(self) -> None:
        self.of: dict[tuple[str, ...], dict[str, int]] = {}
        self.log: list[tuple[str, ...]] = []


class Layout:
    """The nodes with some labels by the levels of a topology: domains, and what is in which."""

    def __init__(
        self, labels: Mapping[str, str], levels: tuple[str, ...], nodes: Iterable[Node]
    ) -> None:
        self.levels = levels
        self.of_hosts = bool(levels) and levels[-1] == HOSTNAME
        self.by_level: list[list[Domain]] = [[] for _ in levels]
        self.leaves: dict[tuple[str, ...], Domain] = {}
        self._index: dict[tuple[str, ...], Domain] = {}
        for node in nodes:
            selected = all(node.labels.get(key) == value for key, value in labels.items())
            if selected and all(level in node.labels for level in levels):
                self._add(node)
        for domains in self.by_level:
            # Hosts below one parent differ in the last value alone, so this orders them as Kueue does.
            domains.sort(key=lambda domain: domain.values)
            for position, domain in enumerate(domains):
                domain.position = position

    def _add(self, node: Node) -> None:
        values = tuple(node.labels[level] for level in self.levels)
        above: Domain | None = None
        for depth in range(1, len(values) + 1):
            path = values[:depth]
            domain = self._index.get(path)
            if domain is None:
                is_host = self.of_hosts and depth == len(values)
                domain = Domain(path, path[-1:] if is_host else path, depth - 1, above)
                self._index[path] = domain
                self.by_level[depth - 1].append(domain)
            above = domain
        if above is None:
            return
        self.leaves[above.id] = above
        above.nodes.append(node)
        for resource, amount in node.allocatable.items():
            above.room[resource] = above.room.get(resource, 0) + amount


class Layouts:
    """Layouts of the same nodes, each made once: worlds that differ in something else share them."""

    def __init__(self) -> None:
        self._nodes: tuple[Node, ...] = ()
        self._known: dict[Hashable, Layout] = {}

    def of(
        self, labels: Mapping[str, str], levels: tuple[str, ...], nodes: tuple[Node, ...]
    ) -> Layout:
        """The layout of the nodes with some labels."""
        if nodes is not self._nodes:
            self._nodes = nodes
            self._known.clear()
        key = tuple(sorted(labels.items())), levels
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = Layout(labels, levels, nodes)
        return found


class Forest:
    """The nodes of a flavor by the levels of its topology, and what is used of them."""

    def __init__(self, flavor: Flavor, layout: Layout, shared: Usage) -> None:
        self.flavor = flavor
        self.levels = layout.levels
        self.of_hosts = layout.of_hosts
        self.by_level = layout.by_level
        self.leaves = layout.leaves
        # A node that two flavors select is counted once, so hosts share what is used of them.
        self.usage = shared if self.of_hosts else Usage()
        self._rooms: dict[str, Rooms] = {}
        self._of_set: dict[tuple[int, bool], tuple[PodSet, Rooms]] = {}

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
            if leaf is None or self.pods(leaf, requests) < count:
                return False
        return True

    def rooms(self, pods: PodSet, *, empty: bool) -> Rooms:
        """How many pods of a set every domain has room for; ``empty`` as if no job had a place.

        The counts of a shape of pods are kept, and counted again where something changed.
        """
        known = self._of_set.get((id(pods), empty))
        if known is None:
            # With the set itself, so that nothing else gets its identity.
            known = pods, self._of_shape(pods, empty=empty)
            self._of_set[id(pods), empty] = known
        rooms = known[1]
        log = self.usage.log
        if not empty and rooms.seen < len(log):
            for changed in set(log[rooms.seen :]):
                leaf = self.leaves.get(changed)
                if leaf is not None and leaf in rooms.of:
                    rooms.set(leaf, self.pods(leaf, pods.requests))
            rooms.seen = len(log)
        return rooms

    def _of_shape(self, pods: PodSet, *, empty: bool) -> Rooms:
        shape = repr((pods.requests, pods.selector, pods.terms, pods.tolerations, empty))
        rooms = self._rooms.get(shape)
        if rooms is None:
            counts = {
                leaf: self.pods(leaf, pods.requests, empty=empty) for leaf in self._matching(pods)
            }
            rooms = Rooms(self.by_level, counts, len(self.usage.log))
            self._rooms[shape] = rooms
        return rooms

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

    def pods(
        self,
        leaf: Domain,
        requests: Amounts,
        taken: Mapping[str, int] | None = None,
        *,
        empty: bool = False,
    ) -> int:
        """How many pods a lowest domain has room for, beside what is ``taken`` of it."""
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
