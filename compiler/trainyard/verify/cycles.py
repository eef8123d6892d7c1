"""Cycles of references that never resolve: Flux waits for ever; Kueue excludes all cohorts of a cycle.

Kueue stops as a whole there, once a workload that holds quota in a queue of the circle changes: for a metric it walks
to a root that does not exist, with its cache locked (kueue v0.19.2, pkg/cache/scheduler/clusterqueue.go,
reportActiveWorkloads over PathSelfToRoot, which looks for no cycle), and its webhooks time out for every namespace.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.output.body import mappings_at, value_at
from trainyard.output.manifest import Manifest
from trainyard.verify.fault import REFERENCE, Fault, Path
from trainyard.verify.objects import Identity, ObjectSet

_FLUX = (
    ("kustomize.toolkit.fluxcd.io", "Kustomization"),
    ("helm.toolkit.fluxcd.io", "HelmRelease"),
)
_COHORT = ("kueue.x-k8s.io", "Cohort")
Edges = dict[Identity, list[tuple[Path, Identity]]]


def cycles(objects: ObjectSet) -> Iterator[tuple[Manifest, Fault]]:
    """One fault a cycle, on its first member by name. A cohort that is its own parent is Kueue's webhook's
    matter."""
    for group, kind in _FLUX:
        dependencies = _dependencies(objects, group, kind)
        yield from _faults(objects, dependencies, "dependsOn")
    yield from _faults(objects, _parents(objects), "parentName")


def _dependencies(objects: ObjectSet, group: str, kind: str) -> Edges:
    edges: Edges = {}
    for identity, manifest in objects.of_kind(group, kind):
        edges[identity] = []
        dependencies = mappings_at(manifest.body, "spec", "dependsOn")
        for index, item in enumerate(dependencies):
            path = ("spec", "dependsOn", index, "name")
            namespace = str(item.get("namespace") or identity[2])
            target = (group, kind, namespace, str(item.get("name")))
            edges[identity].append((path, target))
    return edges


def _parents(objects: ObjectSet) -> Edges:
    edges: Edges = {}
    for identity, manifest in objects.of_kind(*_COHORT):
        edges[identity] = []
        parent = value_at(manifest.body, "spec", "parentName")
        if isinstance(parent, str) and parent:
            path = ("spec", "parentName")
            target = (*_COHORT, "", parent)
            edges[identity].append((path, target))
    return edges


def _faults(objects: ObjectSet, edges: Edges, field: str) -> Iterator[tuple[Manifest, Fault]]:
    reported: set[Identity] = set()
    for start in sorted(edges):
        ring = _ring(start, edges)
        if not ring or reported.intersection(ring):
            continue
        if field == "parentName" and len(ring) == 1:
            continue
        reported.update(ring)
        following = ring[1 % len(ring)]
        paths = (path for path, target in edges[start] if target == following)
        path = next(paths)
        names = [identity[3] for identity in [*ring, start]]
        shown = " → ".join(f"`{name}`" for name in names)
        message = f"`{field}` goes round in a circle: {shown}"
        if field == "parentName":
            message += ", which stops Kueue for every queue"
        help = f"remove `{field}` from one of them"
        fault = Fault(REFERENCE, "REF003", path, message, help)
        yield objects.manifest(start), fault


def _ring(start: Identity, edges: Edges) -> list[Identity]:
    """The members of a cycle through an object, from it on; empty if there is none. Iterative: chains may be long."""
    came: dict[Identity, Identity] = {}
    stack = [start]
    while stack:
        here = stack.pop()
        for _, target in edges[here]:
            if target == start:
                return _back(here, start, came)
            if target in edges and target not in came:
                came[target] = here
                stack.append(target)
    return []


def _back(here: Identity, start: Identity, came: dict[Identity, Identity]) -> list[Identity]:
    ring = [here]
    while ring[-1] != start:
        ring.append(came[ring[-1]])
    return ring[::-1]
