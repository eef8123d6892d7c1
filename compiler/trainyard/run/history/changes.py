"""The differences between an object as submitted and as it would be written now, field by field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trainyard.eks.jobs.kinds import kind_called
from trainyard.eks.jobs.plan import TRAIN_JOB, TrainJob
from trainyard.language.dataclass import dataclass
from trainyard.language.models.flow import flow
from trainyard.language.places import Key, Route
from trainyard.output.beside import beside, shortened
from trainyard.output.body import value_at
from trainyard.output.manifest import Manifest
from trainyard.run.history.committed import Committed
from trainyard.run.history.keep import kept_runtime
from trainyard.run.history.runs import Run

_WIDTH = 60
_ENTRY = {"name", "value"}
_OF_KUEUE = ("kueue.x-k8s.io/queue-name", "kueue.x-k8s.io/priority-class")
_NAMES_ITS_CONTENT = ("spec", "runtimeRef", "name")
_Path = tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """One field that differs: its path in the object, its value before and after, and the place in the spec.

    A value is ``None`` where the field is absent.
    """

    path: str
    before: Any
    after: Any
    at: Route

    def shown(self) -> tuple[str, str]:
        """Both values as a message shows them: where they are long, from shortly before they differ."""
        before, after = beside(_text(self.before), _text(self.after), _WIDTH)
        return _quoted(self.before, before), _quoted(self.after, after)

    def __str__(self) -> str:
        before, after = self.shown()
        return f"`{self.path}`: {before} → {after}"


def changed_fields(
    committed: Committed, run: Run, job: TrainJob, manifests: Mapping[str, Manifest]
) -> list[Change]:
    """The fields of a run's object and runtime that differ from what was submitted; the spec's own come first.

    ``manifests``: the objects as they would be written now, by reference (``Kind/[namespace/]name``).
    """
    ref = f"{kind_called(job.kind).kind}/{job.namespace}/{job.name}"
    new = manifests[ref]
    path = run.committed_path
    old = committed.manifest(run.ref, path, new)
    if old is None:
        return []
    names = {run.object: job.name}
    differences = _differences(old.body.get("spec"), new, names)
    changes = [*_of_labels(old, new), *differences]
    if run.kind == TRAIN_JOB:
        changes += _of_runtime(committed, old, job, manifests, names)
    changes.sort(key=lambda change: _distance(change.at, job))
    return changes


def _of_labels(old: Manifest, new: Manifest) -> Iterator[Change]:
    """Queue and priority stand in labels, which Kueue reads."""
    for label in _OF_KUEUE:
        path = ("metadata", "labels", label)
        before, after = value_at(old.body, *path), value_at(new.body, *path)
        if before != after:
            yield Change(str(Route(path)), before, after, new.origin(path))


def _of_runtime(
    committed: Committed,
    old: Manifest,
    job: TrainJob,
    manifests: Mapping[str, Manifest],
    names: Mapping[str, str],
) -> Iterator[Change]:
    new = manifests[f"ClusterTrainingRuntime/{job.runtime}"]
    name = str(value_at(old.body, "spec", "runtimeRef", "name"))
    runtime = kept_runtime(committed, name, new)
    if runtime is not None:
        yield from _differences(runtime.body.get("spec"), new, names)


def _differences(old: Any, new: Manifest, names: Mapping[str, str]) -> Iterator[Change]:
    start = ("spec",)
    spec = new.body["spec"]
    differences = _walk(old, spec, start, start, names)
    for path, shown, before, after in differences:
        if path != _NAMES_ITS_CONTENT:
            yield Change(str(Route(shown)), before, after, new.origin(path))


def _walk(
    old: Any, new: Any, path: _Path, shown: _Path, names: Mapping[str, str]
) -> Iterator[tuple[_Path, _Path, Any, Any]]:
    """Path, path to show, value before and after of each difference. Items of lists are matched by ``name``."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in sorted({*old, *new}):
            yield from _walk(old.get(key), new.get(key), (*path, key), (*shown, key), names)
    elif _has_names(old) and _has_names(new):
        before_by_name = {item["name"]: item for item in old}
        after_by_name = {item["name"]: item for item in new}
        paths = {}
        for index, item in enumerate(new):
            paths[item["name"]] = (*path, index)
        for name in sorted({*before_by_name, *after_by_name}):
            yield from _walk(
                before_by_name.get(name),
                after_by_name.get(name),
                paths.get(name, path),
                (*shown, name),
                names,
            )
    elif _with_new_name(old, names) != new:
        yield path, shown, old, new


def _has_names(value: Any) -> bool:
    """Whether a value is a list whose items have names."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        return False
    return all(map(_has_name, value))


def _has_name(item: Any) -> bool:
    return isinstance(item, Mapping) and "name" in item


def _with_new_name(value: Any, names: Mapping[str, str]) -> Any:
    """A value with the object's name as it would be now: the name carries a hash of everything else."""
    if isinstance(value, str):
        for before, after in names.items():
            value = value.replace(before, after)
    return value


def _distance(at: Route, job: TrainJob) -> int:
    """The job's own fields stand before those of its pool, and those before what is derived for the whole job."""
    if at == job.at:
        return 2
    start = at[: len(job.at)]
    if start == job.at:
        return 0
    return 1


def shown_value(value: Any) -> str:
    """A value as a message shows it: short, and what is not there by its absence."""
    return _quoted(value, _text(value))


def _quoted(value: Any, text: str) -> str:
    if value is None:
        return "absent"
    return f"`{shortened(text, _WIDTH)}`"


def _text(value: Any) -> str:
    if isinstance(value, Mapping) and value.keys() == _ENTRY:
        value = value["value"]
    if isinstance(value, str):
        return value
    return flow(sorted(value) if isinstance(value, frozenset) else value)
