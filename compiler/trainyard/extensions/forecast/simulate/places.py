"""The nodes that the pods of admitted jobs take, those too that Kueue does not look at.

Of a flavor without a topology Kueue counts quota alone. So its pods are placed here, one node after the other, on the
nodes that its pools may have; what finds no room fits only if there are more of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from trainyard.extensions.forecast.simulate.domains import HOSTNAME, Forest, Usage
from trainyard.extensions.forecast.simulate.objects import PodSet
from trainyard.extensions.forecast.simulate.placing import Placed, Unplaced, Wanted, place_all
from trainyard.extensions.forecast.simulate.state import Work, World


class Place(NamedTuple):
    """Where a set of pods is: its flavor, and its pods by node, or by the lowest domain of a topology."""

    flavor: str
    pods: PodSet
    placed: Placed


class Places:
    """Which nodes of a world are in use, and by whom."""

    def __init__(self, world: World) -> None:
        self._empty = world.empty
        self._of: dict[str, list[Place]] = {}
        self._forests: dict[str, Forest] = {}
        shared = Usage()
        for flavor in world.flavors.values():
            layout = world.layouts.of(flavor.labels, (HOSTNAME,), world.nodes)
            self._forests[flavor.name] = Forest(flavor, layout, shared)

    def of(self, key: str) -> Sequence[Place]:
        """The places of a job."""
        return self._of.get(key, ())

    def hosts(self, flavor: str) -> list[str]:
        """The nodes of a flavor."""
        return [leaf.id[-1] for leaf in self._forests[flavor].leaves.values()]

    def moved(self, world: World) -> Places:
        """The same jobs on the same nodes, in a world that has other ones besides."""
        other = Places(world)
        for key, places in self._of.items():
            for place in places:
                other._enter(key, place)
        return other

    def take(self, work: Work) -> None:
        """Count the places that Kueue chose."""
        for place in work.places():
            self._enter(work.key, Place(*place))

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
            self._enter(work.key, Place(flavor, each.pods, placed[each.pods.name]))
        return short

    def free(self, key: str) -> None:
        """A job is gone from its nodes."""
        for place in self._of.pop(key, ()):
            self._count(place, -1)

    def _enter(self, key: str, place: Place) -> None:
        self._of.setdefault(key, []).append(place)
        self._count(place, 1)

    def _count(self, place: Place, sign: int) -> None:
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
