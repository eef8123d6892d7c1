"""Where admitted jobs would run, and what must hold of nodes that Kueue does not look at.

Of a flavor without a topology Kueue counts quota alone. So its pods are placed here, one node after the other, on the
nodes that its pools may have; what finds no room fits only if there are more of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from trainyard.extensions.forecast.simulate.compiled import Cluster
from trainyard.extensions.forecast.simulate.objects import PodSet
from trainyard.extensions.forecast.simulate.simulator import Simulator
from trainyard.extensions.forecast.simulate.state import Work, World
from trainyard.extensions.forecast.simulate.topology import (
    HOSTNAME,
    Forest,
    Placed,
    Unplaced,
    Usage,
    Wanted,
    place_all,
)
from trainyard.extensions.forecast.simulate.verdict import Where
from trainyard.language.diagnostics.words import numbered


class Witnesses:
    """The places of all admitted jobs."""

    def __init__(self, cluster: Cluster, simulator: Simulator) -> None:
        self._cluster = cluster
        self._world = cluster.world
        self._pool_of = {
            node.name: (pool.title, pool.zone) for pool in cluster.pools for node in pool.nodes
        }
        self._labels = {node.name: node.labels for node in cluster.world.nodes}
        self._short: dict[str, list[str]] = {}
        self._titles: dict[str, str] = {}
        self._places = Places(self._world)
        admitted = [work for work in simulator.works.values() if work.admission is not None]
        # What has a place already is on its nodes before the others look for one.
        for work in admitted:
            self._places.take(work)
        for work in admitted:
            short = self._places.find(work)
            self._short[work.key] = [
                self._more_pods(flavor, unplaced) for flavor, unplaced in short
            ]

    def _more_pods(self, flavor: str, unplaced: Unplaced) -> str:
        names = self._pool_titles(flavor)
        short = unplaced.asked - unplaced.fit
        room = numbered(unplaced.fit, "pod")
        more = numbered(short, "more pod")
        return f"{names} has room for {more}: quota is there, nodes for {room}"

    def _pool_titles(self, flavor: str) -> str:
        """The pools of a flavor, as people call them."""
        found = self._titles.get(flavor)
        if found is None:
            hosts = self._places.hosts(flavor)
            titles = {self._pool_of[host][0] for host in hosts if host in self._pool_of}
            if not hosts:
                titles = {pool.title for pool in self._cluster.pools if flavor in pool.flavors}
            found = ", ".join(f"`{title}`" for title in sorted(titles)) or f"flavor `{flavor}`"
            self._titles[flavor] = found
        return found

    def conditions(self, work: Work) -> tuple[str, ...]:
        """What must hold of nodes, in sentences."""
        found = list(self._short.get(work.key, ()))
        for _, pods, _ in work.places():
            placement = pods.placement
            if placement is None or placement.mode != "required":
                continue
            if placement.level in self._cluster.assumed_levels:
                free = numbered(pods.count, "free node")
                found.append(
                    f"one domain of `{placement.level}` has {free}: which nodes share one is known once"
                    " they run"
                )
        return tuple(found)

    def where(self, work: Work) -> tuple[Where, ...]:
        """The pools, zones and domains of a job's pods."""
        pods: Counter[tuple[str, str, str]] = Counter()
        nodes: dict[tuple[str, str, str], set[tuple[str, ...]]] = {}
        for flavor, _, placed in self._places.places_of(work.key):
            for id, count in placed.items():
                place = self._pool_zone_domain(flavor, id)
                pods[place] += count
                nodes.setdefault(place, set()).add(id)  # Ray's head and a worker may share one
        return tuple(Where(*place, pods[place], len(nodes[place])) for place in sorted(pods))

    def _pool_zone_domain(self, flavor: str, id: tuple[str, ...]) -> tuple[str, str, str]:
        host = id[-1]
        pool, zone = self._pool_of.get(host, (flavor, ""))
        labels = self._labels.get(host)
        if labels is None:
            return pool, zone, "/".join(id)
        topology = self._world.topologies.get(self._world.flavors[flavor].topology or "", ())
        known = [
            labels[level]
            for level in topology
            if level in labels and level != HOSTNAME and level not in self._cluster.assumed_levels
        ]
        return pool, zone, "/".join(known)


class Place(NamedTuple):
    """Where a set of pods is: its flavor, and its pods by node, or by the lowest domain of a topology."""

    flavor: str
    pods: PodSet
    placed: Placed


class Places:
    """Which nodes of a world are in use, and by whom."""

    def __init__(self, world: World) -> None:
        self._empty = world.empty
        self._by_job: dict[str, list[Place]] = {}
        self._forests: dict[str, Forest] = {}
        shared = Usage()
        for flavor in world.flavors.values():
            layout = world.layouts.layout(flavor.labels, (HOSTNAME,), world.nodes)
            self._forests[flavor.name] = Forest(flavor, layout, shared)

    def places_of(self, key: str) -> Sequence[Place]:
        """The places of a job."""
        return self._by_job.get(key, ())

    def hosts(self, flavor: str) -> list[str]:
        """The nodes of a flavor."""
        return [leaf.id[-1] for leaf in self._forests[flavor].leaves.values()]

    def moved(self, world: World) -> Places:
        """The same jobs on the same nodes, in a world that has other ones besides."""
        other = Places(world)
        for key, places in self._by_job.items():
            for place in places:
                other._enter_place(key, place)
        return other

    def take(self, work: Work) -> None:
        """Count the places that Kueue chose."""
        for place in work.places():
            self._enter_place(work.key, Place(*place))

    def find(self, work: Work) -> list[tuple[str, Unplaced]]:
        """A place for each set of pods for which Kueue chose none; what has none, with its flavor."""
        assert work.admission is not None
        short = []
        for each in work.admission.sets:
            if each.placed is not None or not each.choices:
                continue
            flavors = {choice.flavor for choice in each.choices.values()}
            flavor = self._with_nodes(flavors)
            if flavor is None:
                nowhere = Unplaced(each.pods.name, HOSTNAME, 0, each.count)
                short += [(empty, nowhere) for empty in sorted(flavors & self._empty)]
                continue
            want = Wanted(each.pods, each.count, flavor, implied=True)
            placed, unplaced = place_all(self._forests, [want])
            if unplaced is not None:
                short.append((flavor, unplaced))
                continue
            self._enter_place(work.key, Place(flavor, each.pods, placed[each.pods.name]))
        return short

    def free(self, key: str) -> None:
        """A job is gone from its nodes."""
        for place in self._by_job.pop(key, ()):
            self._count_pods(place, -1)

    def _enter_place(self, key: str, place: Place) -> None:
        self._by_job.setdefault(key, []).append(place)
        self._count_pods(place, 1)

    def _count_pods(self, place: Place, sign: int) -> None:
        forest = self._forests[place.flavor]
        hosts = {id: count for id, count in place.placed.items() if id in forest.leaves}
        forest.place(hosts, place.pods.requests, sign)

    def _with_nodes(self, flavors: set[str]) -> str | None:
        """The flavor of a set that has nodes: of several, the one with labels."""
        with_nodes = [
            flavor
            for flavor in sorted(flavors)
            if flavor in self._forests and self._forests[flavor].leaves
        ]
        labelled = [flavor for flavor in with_nodes if self._forests[flavor].flavor.labels]
        found = labelled or with_nodes
        return found[0] if found else None
