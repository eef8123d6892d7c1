"""Flavors that a set of pods may not use at all: taints, selectors and affinity, and what it wants of a topology.

Source: Kueue 0.19.2, pkg/scheduler/flavorassigner/flavorassigner.go (flavorSelector, checkFlavorForPodSets) and
tas_flavorassigner.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.extensions.forecast.simulate.assignment import Obstacle
from trainyard.extensions.forecast.simulate.domains import Forest
from trainyard.extensions.forecast.simulate.matching import matches, untolerated
from trainyard.extensions.forecast.simulate.objects import Flavor, Group, PodSet


class Refusals:
    """What refuses sets of pods. It follows from objects that do not change, so it is found once for each set."""

    def __init__(
        self,
        flavors: Mapping[str, Flavor],
        forests: Mapping[str, Forest],
        tas_only: Mapping[str, bool],
    ) -> None:
        self._flavors = flavors
        self._forests = forests
        self._tas_only = tas_only
        # With the set itself, so that nothing else gets its identity.
        self._known: dict[tuple[str, str, int], tuple[PodSet, Obstacle | None]] = {}

    def of(self, pods: PodSet, queue: str, name: str, group: Group) -> Obstacle | None:
        """Why a set may not use a flavor of a queue; ``None`` if it may."""
        key = queue, name, id(pods)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = pods, self._refused(pods, queue, name, group)
        return known[1]

    def _refused(self, pods: PodSet, queue: str, name: str, group: Group) -> Obstacle | None:
        flavor = self._flavors.get(name)
        if flavor is None:
            return Obstacle("missing", name)
        refused = self._topology_refused(pods, queue, flavor, group)
        if refused is not None:
            return refused
        taint = untolerated(flavor.taints, (*pods.tolerations, *flavor.tolerations))
        if taint is not None:
            return Obstacle("taint", name, detail=str(taint.get("key")))
        if not _is_selected(pods, flavor):
            return Obstacle("affinity", name)
        return None

    def _topology_refused(
        self, pods: PodSet, queue: str, flavor: Flavor, group: Group
    ) -> Obstacle | None:
        if pods.placement is None:
            if self._tas_only[queue] or flavor.topology is None:
                return None
            return Obstacle("topology-flavor", flavor.name, detail="only")
        if flavor.topology is None:
            if not any(name in group.resources for name in pods.requests):
                return None
            return Obstacle("topology-flavor", flavor.name, detail="none")
        forest = self._forests.get(flavor.name)
        level = pods.placement.level
        if forest is None or (level is not None and forest.level(level) is None):
            return Obstacle("topology-flavor", flavor.name, detail=level or "none")
        return None


def _is_selected(pods: PodSet, flavor: Flavor) -> bool:
    """Whether a flavor has what pods select, of the labels that it says anything of."""
    selector = {key: value for key, value in (pods.selector or {}).items() if key in flavor.labels}
    terms: list[tuple[Mapping[str, Any], ...]] = []
    for term in pods.terms:
        known = tuple(each for each in term if each.get("key") in flavor.labels)
        if not known:
            # Terms are alternatives, so one that says nothing of this flavor is fulfilled.
            terms.clear()
            break
        terms.append(known)
    return matches(flavor.labels, selector, tuple(terms))
