"""Keys of ConfigMaps and Secrets that pods want: one that the object of the set does not have keeps them from starting.

Source: core/v1 of Kubernetes 1.36 (``items``, ``configMapKeyRef``, ``secretKeyRef``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from compiler.manifest import Manifest
from compiler.output.body import at, follow, items
from compiler.verify.fault import REFERENCE, Fault, Path, nearest
from compiler.verify.objects import ObjectSet, identity_of
from compiler.verify.references import POD_SPECS, TRAINER

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
    ("spec", "trainer"),
    ("spec", "initializer", "dataset"),
    ("spec", "initializer", "model"),
)
Wanted = tuple[
    Path, str, str, Any
]  # the place of a key, kind and name of the object that is to have it, the key


def absent_keys(objects: ObjectSet) -> Iterator[tuple[Manifest, Fault]]:
    """Faults of keys. An object without any key may be filled by a controller, and is not judged."""
    for manifest in objects.manifests:
        namespace = identity_of(manifest.body)[2]
        for path, kind, name, key in _wanted(manifest.body):
            body = objects.find("", kind, namespace, name)
            parts = [at(body, field) for field in ("data", "binaryData", "stringData")]
            keys = {
                str(each) for part in parts if isinstance(part, dict) for each in part
            }
            if keys and isinstance(key, str) and key not in keys:
                help = nearest(key, keys, "add the key")
                yield (
                    manifest,
                    Fault(
                        REFERENCE,
                        "REF001",
                        path,
                        f"{kind} `{name}` has no key `{key}`",
                        help,
                    ),
                )


def _wanted(body: dict[str, Any]) -> Iterator[Wanted]:
    group, kind, _, _ = identity_of(body)
    for path, pod in (
        follow(body, POD_SPECS[group, kind]) if (group, kind) in POD_SPECS else ()
    ):
        for inner, target, field in _VOLUMES:
            for tail, volume in follow(pod, inner):
                for index, item in enumerate(
                    items(volume, "items") if not at(volume, "optional") else ()
                ):
                    yield (
                        (*path, *tail, "items", index, "key"),
                        target,
                        str(at(volume, field)),
                        item.get("key"),
                    )
        for each in _CONTAINERS:
            yield from _variables(pod, each, path)
    for start in _OF_JOBS if (group, kind) == (TRAINER, "TrainJob") else ():
        yield from _variables(body, (*start, "env", "*", "valueFrom"), ())


def _variables(value: Any, where: tuple[str, ...], start: Path) -> Iterator[Wanted]:
    sources = list(follow(value, where))
    for field, target in _VARIABLES:
        for path, source in sources:
            ref = at(source, field)
            if ref is not None and not at(ref, "optional"):
                yield (
                    (*start, *path, field, "key"),
                    target,
                    str(at(ref, "name")),
                    at(ref, "key"),
                )
