"""Applies the spec's patches to artifacts, and lifts the plan from the result."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, fields, replace
from hashlib import sha256
from typing import Any

from trainyard.eks.jobs.kinds import kind_of_object
from trainyard.eks.jobs.plan import TRAIN_JOB, Runtime, TrainJob
from trainyard.eks.overrides.plan import ObjectPatch
from trainyard.language.dataclass import dataclass
from trainyard.language.diagnostics import Diagnostic
from trainyard.language.diagnostics.diagnostic import error
from trainyard.language.places import Route
from trainyard.lift import lift
from trainyard.output import Artifact
from trainyard.output.body import value_at
from trainyard.output.lowering.body import guarded, object_path, texts_within
from trainyard.output.manifest import Body, Manifest
from trainyard.plan import Plan, PlanItem
from trainyard.run.patching.merge import merge
from trainyard.run.patching.operations import operate
from trainyard.run.patching.place import Draft, PatchError, Path
from trainyard.run.patching.select import nearest, targets_of

# Renames jobs and runtimes that a patch changes: their names carry a hash of what they run.

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
    labels = value_at(body, "metadata", "labels")
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
        if kind_of_object(manifest.ref.group, manifest.ref.kind) is None:
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


_FLUX = "kustomize.toolkit.fluxcd.io/"
_RUNTIMES = ("ClusterTrainingRuntime", "TrainingRuntime")
_IDENTITY: tuple[Path, ...] = (
    ("apiVersion",),
    ("kind",),
    ("metadata", "name"),
    ("metadata", "namespace"),
    ("metadata", "generateName"),
    ("metadata", "labels", "app.kubernetes.io/managed-by"),
    ("metadata", "labels", "trainyard.dev/job"),
)
# What makes a job run once, and what Kueue, Trainer and the operators own (Trainer 2.3, Kueue 0.19, and the run policy
# of training-operator v1.9.4 and mpi-operator v0.8.2).
_OF_A_RUN: tuple[Path, ...] = (
    ("spec", "suspend"),
    ("spec", "managedBy"),
    ("spec", "runtimeRef"),
    ("spec", "runPolicy", "suspend"),
    ("spec", "runPolicy", "managedBy"),
)


def apply_patches(
    plan: Plan, artifacts: Sequence[Artifact]
) -> tuple[Plan, list[Artifact], list[Diagnostic]]:
    """A plan and its artifacts with the plan's patches, and a fault for every patch that does not apply.

    An object keeps what a patch that does not apply would change. A job or runtime that would run otherwise gets
    another name, since its name carries a hash of what it runs.
    """
    manifests = [artifact for artifact in artifacts if isinstance(artifact, Manifest)]
    originals = {id(manifest): manifest.body for manifest in manifests}
    reach: dict[int, tuple[Route, ...]] = {}
    faults: list[Diagnostic] = []
    for patch in plan.of(ObjectPatch):
        targets = targets_of(patch, manifests)
        if not targets:
            faults.append(_no_target(patch, manifests))
        for manifest in targets:
            before = manifest.body
            fault = _apply(patch, manifest)
            if fault is not None:
                faults.append(fault)
            elif not same_work(before, manifest.body):
                earlier = reach.get(id(manifest), ())
                reach[id(manifest)] = (*earlier, patch.at)
    names = rename_changed(_runs(plan, manifests), originals, reach)
    written: list[Artifact] = []
    changed: set[str] = set()
    for artifact in artifacts:
        renamed = names.manifests.get(id(artifact), artifact)
        written.append(renamed)
        original = originals.get(id(artifact))
        if original is not None and renamed.body is not original:
            changed.add(renamed.id)
    return _read_back(plan, written, changed, names), written, faults


def _runs(plan: Plan, manifests: Sequence[Manifest]) -> list[Manifest]:
    """The jobs and runtimes that the plan names by their content."""
    jobs = plan.of(TrainJob)
    names = {(job.kind, job.namespace, job.name) for job in jobs}
    for runtime in plan.of(Runtime):
        names.add(("ClusterTrainingRuntime", "", runtime.name))
    runs = []
    for manifest in manifests:
        ref = manifest.ref
        if (ref.kind, ref.namespace, ref.name) in names:
            runs.append(manifest)
    return runs


def _no_target(patch: ObjectPatch, manifests: Sequence[Manifest]) -> Diagnostic:
    if patch.name:
        name = f" `{patch.name}`"
    else:
        name = ""
    return error(
        "RES085",
        f"no {patch.kind}{name} is rendered that the patch is for",
        patch.at / "target",
        help=nearest(patch, manifests),
    )


def _apply(patch: ObjectPatch, manifest: Manifest) -> Diagnostic | None:
    """Patch an object, or say why the patch does not apply."""
    draft = Draft(manifest.body, manifest.origins)
    at = patch.at / "patch"
    try:
        if patch.operations:
            for index, operation in enumerate(patch.operations):
                operate(draft, operation, at / index)
        else:
            merge(draft, patch.merge, manifest.ref.group, at)
        _keep_identity(manifest, draft, at)
    except PatchError as fault:
        return error(fault.code, f"{fault.fact} in `{manifest.ref}`", fault.at, help=fault.help)
    if draft.body != manifest.body:
        manifest.body = _guarded(draft.body, manifest.body)
    manifest.origins = draft.origins
    return None


def _guarded(body: Body, before: Body) -> Body:
    """A patched body, in which Flux fills in nothing that it did not fill in before."""
    if any("${" in text for text in texts_within(before)):
        return body
    return guarded(body)


def _keep_identity(manifest: Manifest, draft: Draft, at: Route) -> None:
    """Raises ``PatchError`` where a patch changes what the object is, or what makes it run once."""
    for path in _kept_paths(manifest, draft):
        before = _value(manifest.body, path)
        after = _value(draft.body, path)
        if before != after:
            place = _nearest_place(draft, path, at)
            raise PatchError(
                "RES088",
                f"a patch cannot change `{Route(path)}`",
                place,
                "remove it from the patch; the spec has a key for what may change",
            )


def _kept_paths(manifest: Manifest, draft: Draft) -> Iterator[Path]:
    yield from _IDENTITY
    is_job = kind_of_object(manifest.ref.group, manifest.ref.kind) is not None
    is_run = is_job or manifest.ref.kind in _RUNTIMES
    if is_job and not manifest.key:
        yield from _OF_A_RUN
    ours = _annotations(manifest.body)
    patched = _annotations(draft.body)
    for key in sorted({*ours, *patched}):
        if key.startswith(_FLUX) and (is_run or key in ours):
            yield "metadata", "annotations", key


def _annotations(body: Body) -> Mapping[str, Any]:
    annotations = _value(body, ("metadata", "annotations"))
    if isinstance(annotations, dict):
        return annotations
    return {}


def _value(body: Any, path: Path) -> Any:
    for key in path:
        if not isinstance(body, dict) or key not in body:
            return None
        body = body[key]
    return body


def _nearest_place(draft: Draft, path: Path, at: Route) -> Route:
    """The line of the patch that sets a field, or its container."""
    for end in range(len(path), 0, -1):
        route = draft.origins.get(path[:end])
        if route is None:
            continue
        if route[: len(at)] == at:
            return route
    return at


# --- the plan


def _read_back(
    plan: Plan, artifacts: Sequence[Artifact], changed: set[str], names: Renamed
) -> Plan:
    """The plan with the nodes of changed objects as these say them now, so that a report says what is written.

    ``changed`` are the ids of these objects. A node that is read back equals the one that was rendered but for its
    places, so what takes part in equality is taken over, and the rest stays.
    """
    manifests = [artifact for artifact in artifacts if isinstance(artifact, Manifest)]
    written: dict[tuple[str, str, str], PlanItem] = {}
    for node in lift(manifests, closed=True).items:
        if node.at and node.at[0] in changed:
            written[_key(node)] = node
    items = [_as_written(item, written, names) for item in plan.items]
    derived = tuple(replace(value, value=names.text(value.value)) for value in plan.derived)
    return replace(plan, items=tuple(items), derived=derived)


def _key(node: PlanItem) -> tuple[str, str, str]:
    """Class, namespace and name."""
    namespace = getattr(node, "namespace", "")
    name = getattr(node, "name", "")
    return type(node).__name__, str(namespace), str(name)


def _object_kind(node: PlanItem) -> str:
    """The kind of the object that a node is written as."""
    if isinstance(node, TrainJob):
        return node.kind
    if isinstance(node, Runtime):
        return node.kind or "ClusterTrainingRuntime"
    return type(node).__name__


def _as_written(
    node: PlanItem, written: Mapping[tuple[str, str, str], PlanItem], names: Renamed
) -> PlanItem:
    kind, namespace, name = _key(node)
    new = names.name(_object_kind(node), namespace, name)
    now = written.get((kind, namespace, new))
    if now is None:
        return node
    compared = [field.name for field in fields(node) if field.compare]
    values = {field: getattr(now, field) for field in compared}
    if isinstance(node, TrainJob):
        job = (node.namespace, node.name)
        values["patched"] = names.reach.get(job, ())
    return replace(node, **values)
