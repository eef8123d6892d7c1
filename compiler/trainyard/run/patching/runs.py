"""Renames jobs and runtimes that a patch changes: their names carry a hash of what they run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from hashlib import sha256
from typing import Any

from trainyard.eks.jobs.kinds import of_object
from trainyard.eks.jobs.plan import TRAIN_JOB
from trainyard.language.dataclass import dataclass
from trainyard.language.places import Route
from trainyard.output.body import at
from trainyard.output.lowering.body import object_path
from trainyard.output.manifest import Body, Manifest

_RUNTIME = "ClusterTrainingRuntime"
_KUEUE = "kueue.x-k8s.io/"
_DIGITS_OF_JOBS, _DIGITS_OF_RUNTIMES = 5, 8
Reach = tuple[Route, ...]


@dataclass()
class Renamed:
    """Objects that have another name, by the identity of the one before; and the patches that change each job."""

    manifests: dict[int, Manifest] = field(default_factory=dict)
    names: dict[tuple[str, str, str], str] = field(default_factory=dict)
    reach: dict[tuple[str, str], Reach] = field(default_factory=dict)

    def name(self, kind: str, namespace: str, name: str) -> str:
        """The name that the object of a kind has now."""
        return self.names.get((kind, namespace, name), name)

    def text(self, text: str) -> str:
        """A text with every new name."""
        for (_, _, before), after in self.names.items():
            text = text.replace(before, after)
        return text


def same_work(before: Body, after: Body) -> bool:
    """Whether two bodies of one object run the same."""
    return before is after or _work(before) == _work(after)


def _work(body: Body) -> Any:
    """What an object runs: its ``spec``, and the labels by which Kueue queues it."""
    labels = at(body, "metadata", "labels")
    queued = {}
    if isinstance(labels, dict):
        queued = {key: labels[key] for key in labels if key.startswith(_KUEUE)}
    return [body.get("spec"), queued]


def rename_changed(
    manifests: Sequence[Manifest], originals: Mapping[int, Body], reach: Mapping[int, Reach]
) -> Renamed:
    """The jobs and runtimes that patches change, under their new names. ``reach``: the patches that change the work of
    an object, by its identity."""
    names = Renamed()
    runtimes: dict[str, Reach] = {}
    for manifest in manifests:
        if manifest.ref.kind == _RUNTIME and _differs(manifest, originals):
            patches = reach.get(id(manifest), ())
            runtimes[manifest.ref.name] = patches
            _rename(names, manifest)
    for manifest in manifests:
        if of_object(manifest.ref.group, manifest.ref.kind) is None:
            continue
        runtime = ""
        if manifest.ref.kind == TRAIN_JOB:
            runtime = manifest.body["spec"]["runtimeRef"]["name"]
        if runtime in runtimes or _differs(manifest, originals):
            key = (manifest.ref.namespace, manifest.ref.name)
            of_runtime = runtimes.get(runtime, ())
            own = (*of_runtime, *reach.get(id(manifest), ()))
            names.reach[key] = tuple(dict.fromkeys(own))
            _rename(names, manifest)
    return names


def _differs(manifest: Manifest, originals: Mapping[int, Body]) -> bool:
    original = originals[id(manifest)]
    return not same_work(original, manifest.body)


def _rename(names: Renamed, manifest: Manifest) -> None:
    """Give an object a name by its content, which has the new names of runtimes already."""
    ref = manifest.ref
    body = _with_runtimes(manifest.body, names)
    content = [ref.name, _work(body)]
    text = json.dumps(content, sort_keys=True)
    digest = sha256(text.encode()).hexdigest()
    stem, _, _ = ref.name.rpartition("-")
    length = _DIGITS_OF_RUNTIMES if ref.kind == _RUNTIME else _DIGITS_OF_JOBS
    name = f"{stem}-{digest[:length]}"
    names.names[ref.kind, ref.namespace, ref.name] = name
    body = _with_name(body, ref.name, name)
    folder, _, _ = manifest.path.rpartition("/")
    path = object_path(folder, ref.kind, name, ref.namespace)
    names.manifests[id(manifest)] = replace(manifest, body=body, path=path)


def _with_runtimes(body: Any, names: Renamed) -> Any:
    """A body with the new names of runtimes."""
    for (kind, _, before), after in names.names.items():
        if kind == _RUNTIME:
            body = _with_name(body, before, after)
    return body


def _with_name(value: Any, before: str, after: str) -> Any:
    """A value with one name instead of another, in every text: variables of the rendezvous have the job's."""
    if isinstance(value, str):
        return value.replace(before, after)
    if isinstance(value, dict):
        items = value.items()
        return {key: _with_name(inside, before, after) for key, inside in items}
    if isinstance(value, list):
        return [_with_name(inside, before, after) for inside in value]
    return value
