"""Parts of objects by their core/v1 type, since each Kubernetes minor version adds fields to such types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.output.body import values_along
from trainyard.output.manifest import Manifest
from trainyard.verify.references import RUNTIME_PODS, pod_specs

_Path = tuple[Any, ...]
Part = tuple[str, _Path, Mapping[str, Any]]
"""A mapping of an object: its type, its path, and itself."""

_CONTAINERS = ("containers", "initContainers")
_CLAIM = (("volumes", "*", "ephemeral", "volumeClaimTemplate", "spec"),)


def _in_containers(*keys: str) -> tuple[tuple[str, ...], ...]:
    return tuple((part, "*", *keys) for part in _CONTAINERS)


# type -> where a pod spec has it (core/v1 PodSpec, Kubernetes 1.36)
_IN_POD: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "PodSpec": ((),),
    "Container": _in_containers(),
    "EnvVarSource": _in_containers("env", "*", "valueFrom"),
    "Lifecycle": _in_containers("lifecycle"),
    "Volume": (("volumes", "*"),),
    "VolumeProjection": (("volumes", "*", "projected", "sources", "*"),),
    "PersistentVolumeClaimSpec": _CLAIM,
    "TypedObjectReference": tuple((*path, "dataSourceRef") for path in _CLAIM),
}
_IN_CLAIM: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "PersistentVolumeClaimSpec": (("spec",),),
    "TypedObjectReference": (("spec", "dataSourceRef"),),
}


def typed_parts(manifest: Manifest) -> Iterator[Part]:
    """The mappings of an object that are of one of these types: type, path and mapping."""
    for start, spec in _pods(manifest):
        yield from _typed(spec, _IN_POD, start)
    if manifest.ref.kind == "PersistentVolumeClaim":
        yield from _typed(manifest.body, _IN_CLAIM, ())


def _typed(
    body: Any, places: Mapping[str, tuple[tuple[str, ...], ...]], start: _Path
) -> Iterator[Part]:
    for name, paths in places.items():
        for path in paths:
            for place, value in values_along(body, path, start):
                if isinstance(value, dict):
                    yield name, place, value


def _pods(manifest: Manifest) -> Iterator[tuple[_Path, Any]]:
    yield from pod_specs(manifest.body)
    if manifest.ref.kind == "ClusterTrainingRuntime":
        yield from values_along(manifest.body, RUNTIME_PODS)
