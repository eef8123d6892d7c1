"""Where the objects of KubeRay say their clusters (ray.io/v1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.judge.model.values import indexed
from trainyard.language.places import Key
from trainyard.output.manifest import Manifest

_CLUSTERS: Mapping[str, tuple[Key, ...]] = {
    "RayJob": ("spec", "rayClusterSpec"),
    "RayCluster": ("spec",),
    "RayService": ("spec", "rayClusterConfig"),
}
KINDS = tuple(f"ray.io/{kind}" for kind in _CLUSTERS)


def cluster_path(manifest: Manifest) -> tuple[Key, ...]:
    """The place of the cluster in an object of one of these kinds."""
    return _CLUSTERS[manifest.ref.kind]


def worker_groups(manifest: Manifest) -> Iterator[tuple[tuple[Key, ...], Mapping[str, Any]]]:
    """The groups of workers, each with its place."""
    path = (*cluster_path(manifest), "workerGroupSpecs")
    for index, group in indexed(manifest.body, *path):
        yield (*path, index), group
