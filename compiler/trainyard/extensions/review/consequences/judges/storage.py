"""Volumes, claims and classes of storage.

Sources: Kubernetes 1.35, persistent volumes (reclaim policies; a volume or claim in use is not removed before its pods
have ended) and storage classes (a class is read when a volume is made).
"""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.extensions.forecast.change import Action, Consequence, Effect
from trainyard.extensions.review.edits.edit import Edit
from trainyard.extensions.review.edits.judge import Judge
from trainyard.output.body import value_at
from trainyard.output.fields import Steps
from trainyard.run.history.immutable import fixed

_KUBERNETES = "Kubernetes 1.35, persistent volumes"
_CLASSES = "Kubernetes 1.35, storage classes"


def _volume(edit: Edit, steps: Steps) -> Effect | None:
    if edit.action is Action.ADDED:
        return Effect(Consequence.HARMLESS, "it names storage that exists", _KUBERNETES)
    if edit.action is Action.REMOVED:
        if value_at(edit.old, "spec", "persistentVolumeReclaimPolicy") == "Retain":
            return Effect(
                Consequence.HARMLESS,
                "its reclaim policy is Retain: the storage is kept",
                _KUBERNETES,
            )
        return Effect(
            Consequence.DESTROYS_DATA, "its reclaim policy does not keep the storage", _KUBERNETES
        )
    if steps == ("spec", "persistentVolumeReclaimPolicy"):
        return Effect(
            Consequence.HARMLESS, "it decides what happens once the volume is released", _KUBERNETES
        )
    return _fixed(edit, steps)


def _claim(edit: Edit, steps: Steps) -> Effect | None:
    if edit.action is Action.ADDED:
        if value_at(edit.new, "spec", "volumeName"):
            return Effect(Consequence.HARMLESS, "it binds a volume that is named", _KUBERNETES)
        return Effect(Consequence.COST, "a volume may be made for it", _KUBERNETES)
    if edit.action is Action.REMOVED:
        if value_at(edit.old, "spec", "volumeName"):
            return Effect(
                Consequence.UNKNOWN,
                "the reclaim policy of the volume that it names decides",
                _KUBERNETES,
            )
        return Effect(
            Consequence.DESTROYS_DATA,
            "a volume that was made for a claim is deleted with it, unless its class says Retain",
            _KUBERNETES,
        )
    return _fixed(edit, steps)


def _fixed(edit: Edit, steps: Steps) -> Effect | None:
    """A field that never changes: only another volume or claim, without the data, has another value."""
    kind, _, _ = edit.thing.kind.partition(".")
    rule = fixed(kind, edit.old, steps)
    if rule is None:
        return None
    return Effect(
        Consequence.UNKNOWN,
        "the API server refuses it: only a new one, which may be empty, has another value",
        rule.source,
        replaces=True,
    )


def _class(edit: Edit, steps: Steps) -> Effect | None:
    if edit.action is Action.CHANGED:
        return _fixed(edit, steps)
    return Effect(
        Consequence.HARMLESS, "it is read when a volume is made; those that exist stay", _CLASSES
    )


KINDS: Mapping[str, Judge] = {
    "PersistentVolume": _volume,
    "PersistentVolumeClaim": _claim,
    "StorageClass.storage.k8s.io": _class,
}
