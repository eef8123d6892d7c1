"""Keys of ConfigMaps and Secrets that pods need: a missing one keeps them from starting.

Source: core/v1 of Kubernetes 1.36 (``items``, ``configMapKeyRef``, ``secretKeyRef``).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

from trainyard.output.body import at, follow, indexed
from trainyard.output.manifest import Body, Manifest
from trainyard.verify.fault import REFERENCE, Fault, Path, nearest
from trainyard.verify.loose_ends import Near
from trainyard.verify.objects import ObjectSet, identity_of
from trainyard.verify.references import TRAINER, pod_specs

# where a pod spec names keys of an object: its kind, and the field of its name
_VOLUMES = (
    (("volumes", "*", "configMap"), "ConfigMap", "name"),
    (("volumes", "*", "secret"), "Secret", "secretName"),
    (("volumes", "*", "projected", "sources", "*", "configMap"), "ConfigMap", "name"),
    (("volumes", "*", "projected", "sources", "*", "secret"), "Secret", "name"),
)
_VARIABLES = (("configMapKeyRef", "ConfigMap"), ("secretKeyRef", "Secret"))
_CONTAINERS = (
    ("containers", "*", "env", "*", "valueFrom"),
    ("initContainers", "*", "env", "*", "valueFrom"),
)
_OF_JOBS = (
    ("spec", "trainer", "env", "*", "valueFrom"),
    ("spec", "initializer", "dataset", "env", "*", "valueFrom"),
    ("spec", "initializer", "model", "env", "*", "valueFrom"),
)
_WITH_KEYS = ("ConfigMap", "Secret")
Reference = tuple[Path, str, str, Any]
"""The place of a key, kind and name of the object that is to have it, and the key."""


def absent_keys(objects: ObjectSet, near: Near) -> Iterator[tuple[Manifest, Fault]]:
    """Faults of keys. An object without any key may be filled by a controller, and is not judged; nor is one that is
    not ``near``, since another of its name may be."""
    sources = (objects.of_kind("", kind) for kind in _WITH_KEYS)
    declared = chain.from_iterable(sources)
    if next(declared, None) is None:
        return
    for manifest in objects.manifests:
        namespace = manifest.once(identity_of)[2]
        for path, kind, name, key in _references(manifest.body):
            identity = ("", kind, namespace, name)
            if identity not in objects or not isinstance(key, str):
                continue
            source = objects.manifest(identity)
            keys = _keys(source.body)
            if not keys or not near(manifest.path, source.path):
                continue
            if key not in keys:
                message = f"{kind} `{name}` has no key `{key}`"
                help = nearest(key, keys, "add the key")
                yield (manifest, Fault(REFERENCE, "REF001", path, message, help))


def _keys(body: Body | None) -> set[str]:
    """The keys of a ConfigMap or Secret."""
    keys: set[str] = set()
    for field in ("data", "binaryData", "stringData"):
        entries = at(body, field)
        if isinstance(entries, dict):
            keys.update(map(str, entries))
    return keys


def _references(body: Body) -> Iterator[Reference]:
    """Every key that the pods of an object want."""
    group, kind, _, _ = identity_of(body)
    for path, pod in pod_specs(body):
        yield from _of_volumes(pod, path)
        for pattern in _CONTAINERS:
            yield from _of_variables(pod, pattern, path)
    if (group, kind) == (TRAINER, "TrainJob"):
        for place in _OF_JOBS:
            yield from _of_variables(body, place, ())


def _of_volumes(pod: Any, start: Path) -> Iterator[Reference]:
    for pattern, kind, field in _VOLUMES:
        for path, volume in follow(pod, pattern):
            if at(volume, "optional"):
                continue
            name = str(at(volume, field))
            for index, item in indexed(volume, "items"):
                place = (*start, *path, "items", index, "key")
                yield place, kind, name, item.get("key")


def _of_variables(value: Any, pattern: tuple[str, ...], start: Path) -> Iterator[Reference]:
    sources = list(follow(value, pattern))
    for field, kind in _VARIABLES:
        for path, source in sources:
            ref = at(source, field)
            if ref is not None and not at(ref, "optional"):
                place = (*start, *path, field, "key")
                name = str(at(ref, "name"))
                yield place, kind, name, at(ref, "key")
