"""Claims that name a volume of another StorageClass than the one they get by default.

Source: Kubernetes 1.36, admission plugin DefaultStorageClass (a claim without ``storageClassName`` gets the default
class, whether it names a volume or not), and volume binding (both classes must be the same).
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.output.body import at
from trainyard.output.manifest import Manifest
from trainyard.verify.fault import Fault, never_works
from trainyard.verify.objects import ObjectSet

_DEFAULT = "storageclass.kubernetes.io/is-default-class"


def claims_of_default_class(objects: ObjectSet) -> Iterator[tuple[Manifest, Fault]]:
    """Faults of claims; without a default class in the set nothing is known of it."""
    defaults = [
        identity[3]
        for identity, manifest in objects.of_kind("storage.k8s.io", "StorageClass")
        if at(manifest.body, "metadata", "annotations", _DEFAULT) == "true"
    ]
    if len(defaults) != 1:
        return
    for _, manifest in objects.of_kind("", "PersistentVolumeClaim"):
        name = at(manifest.body, "spec", "volumeName")
        if not isinstance(name, str):
            continue
        volume = objects.find("", "PersistentVolume", "", name)
        if volume is None:
            continue
        if at(manifest.body, "spec", "storageClassName") is not None:
            continue
        if not at(volume, "spec", "storageClassName"):
            message = f"claim gets the default class `{defaults[0]}`, and volume `{name}` has none: never bound"
            help = 'write `storageClassName: ""` as well'
            yield manifest, never_works(("spec", "volumeName"), message, help)
