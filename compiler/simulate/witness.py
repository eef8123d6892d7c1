"""Where admitted jobs would run, and what must hold of nodes that Kueue does not look at.

Of a flavor without a topology Kueue counts quota alone. So its pods are placed here, one node after the other, on the
nodes that its pools may have; what finds no room fits only if there are more of them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from compiler.diagnostics.words import numbered
from compiler.simulate.compiled import Cluster
from compiler.simulate.domains import HOSTNAME, Forest, Usage
from compiler.simulate.objects import PodSet
from compiler.simulate.placing import Placed, Unplaced, Wanted, place_all
from compiler.simulate.simulator import Simulator
from compiler.simulate.state import Work
from compiler.simulate.verdict import Where


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
        self._placed: dict[str, list[tuple[str, Placed]]] = {}
        self._forests: dict[str, Forest] = {}
        shared = Usage()
        for flavor in self._world.flavors.values():
            self._forests[flavor.name] = Forest(flavor, (HOSTNAME,), self._world.nodes, shared)
        admitted = [work for work in simulator.works.values() if work.admission is not None]
        # What has a place already is on its nodes before the others look for one.
        for work in admitted:
            self._take_places(work)
        for work in admitted:
            self._find_places(work)

    def _take_places(self, work: Work) -> None:
        for flavor, pods, placed in work.places():
            self._placed.setdefault(work.key, []).append((flavor, placed))
            hosts = {
                id: count for id, count in placed.items() if id in self._forests[flavor].leaves
            }
            self._forests[flavor].place(hosts, pods.requests)

    def _find_places(self, work: Work) -> None:
        assert work.admission is not None
        for each in work.admission.sets:
            if each.placed is not None or not each.choices:
                continue
            flavor = _flavor_of_nodes(
                {choice.flavor for choice in each.choices.values()}, self._forests
            )
            if flavor is None:
                continue
            pods = replace(each.pods, placement=None)
            placed, unplaced = place_all(
                self._forests, [Wanted(pods, each.count, flavor, implied=True)]
            )
            if unplaced is not None:
                self._short.setdefault(work.key, []).append(self._more(flavor, pods, unplaced))
                continue
            found = placed[pods.name]
            self._placed.setdefault(work.key, []).append((flavor, found))
            self._forests[flavor].place(found, pods.requests)

    def _more(self, flavor: str, pods: PodSet, unplaced: Unplaced) -> str:
        forest = self._forests[flavor]
        hosts = [leaf.id[-1] for leaf in forest.leaves.values()]
        titles = sorted({self._pool_of[host][0] for host in hosts if host in self._pool_of})
        names = ", ".join(f"`{title}`" for title in titles) or f"flavor `{flavor}`"
        short = unplaced.asked - unplaced.fit
        room = numbered(unplaced.fit, "pod")
        more = numbered(short, "more pod")
        return f"{names} has room for {more}: quota is there, nodes for {room}"

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
        nodes: Counter[tuple[str, str, str]] = Counter()
        for flavor, placed in self._placed.get(work.key, ()):
            for id, count in placed.items():
                place = self._place(flavor, id)
                pods[place] += count
                nodes[place] += 1
        return tuple(Where(*place, pods[place], nodes[place]) for place in sorted(pods))

    def _place(self, flavor: str, id: tuple[str, ...]) -> tuple[str, str, str]:
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


def _flavor_of_nodes(flavors: set[str], forests: dict[str, Forest]) -> str | None:
    """The flavor of a set that has nodes: of several, the one with labels."""
    with_nodes = [
        flavor for flavor in sorted(flavors) if flavor in forests and forests[flavor].leaves
    ]
    labelled = [flavor for flavor in with_nodes if forests[flavor].flavor.labels]
    found = labelled or with_nodes
    return found[0] if found else None
