"""Where admitted jobs would run, and what must hold of nodes that Kueue does not look at."""

from __future__ import annotations

from collections import Counter

from trainyard.extensions.forecast.simulate.compiled import Cluster
from trainyard.extensions.forecast.simulate.domains import HOSTNAME
from trainyard.extensions.forecast.simulate.places import Places
from trainyard.extensions.forecast.simulate.placing import Unplaced
from trainyard.extensions.forecast.simulate.simulator import Simulator
from trainyard.extensions.forecast.simulate.state import Work
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
            self._short[work.key] = [self._more(flavor, unplaced) for flavor, unplaced in short]

    def _more(self, flavor: str, unplaced: Unplaced) -> str:
        names = self._pools(flavor)
        short = unplaced.asked - unplaced.fit
        room = numbered(unplaced.fit, "pod")
        more = numbered(short, "more pod")
        return f"{names} has room for {more}: quota is there, nodes for {room}"

    def _pools(self, flavor: str) -> str:
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
        for flavor, _, placed in self._places.of(work.key):
            for id, count in placed.items():
                place = self._place(flavor, id)
                pods[place] += count
                nodes.setdefault(place, set()).add(id)  # Ray's head and a worker may share one
        return tuple(Where(*place, pods[place], len(nodes[place])) for place in sorted(pods))

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
