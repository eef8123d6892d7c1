"""Keeps submitted jobs exactly as they were submitted, unless the spec asks for another run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from trainyard.eks.jobs.heads import JOBS
from trainyard.eks.jobs.kinds import kind_of_object
from trainyard.eks.jobs.lower import RUNTIMES
from trainyard.eks.jobs.plan import TRAIN_JOB, FileSet, Runtime, TrainJob
from trainyard.language.dataclass import dataclass
from trainyard.language.diagnostics import Diagnostic, Severity
from trainyard.lift import lift
from trainyard.output.body import value_at
from trainyard.output.lowering.body import object_path
from trainyard.output.manifest import Manifest
from trainyard.plan import Derived, Plan
from trainyard.run.history.committed import Committed
from trainyard.run.history.runs import FOLDER, Run
from trainyard.run.history.words import digest

_RUNTIME = "ClusterTrainingRuntime"
_FILES = "ConfigMap"
_NAMED = 3  # jobs that a message names


@dataclass(frozen=True, slots=True)
class Kept:
    """A job that stays: its node, its runtime's and its files' as they were written, and the objects, word for word:
    the job's, and the runtime's where it refers to one.

    ``files`` are the ConfigMaps that the runtime mounts and that we wrote.
    """

    job: TrainJob
    runtime: Runtime
    manifests: tuple[Manifest, ...]
    files: tuple[Manifest, ...] = ()


def kept(committed: Committed, run: Run, job: TrainJob, new: Manifest) -> Kept | None:
    """The job as it was submitted; ``None`` where its files are not as they were written."""
    if run.namespace != job.namespace:
        return None
    path = run.committed_path
    old = committed.manifest(run.ref, path, new)
    if old is None or _is_edited(old, run.made):
        return None
    objects: tuple[Manifest, ...] = (old,)
    if run.kind == TRAIN_JOB:
        name = str(value_at(old.body, "spec", "runtimeRef", "name"))
        runtime = kept_runtime(committed, name, new)
        if runtime is None or _is_edited(runtime, run.ran):
            return None
        objects = (old, runtime)
    lifted = lift(objects, closed=True)
    (node,) = lifted.of(TrainJob)
    (ran,) = lifted.of(Runtime)
    node = replace(
        node,
        at=job.at,
        origins=job.origins,
        source_name=job.source_name,
        pool=job.pool,
        fallbacks=job.fallbacks,
        rerun=job.rerun,
        pods_a_node=job.pods_a_node,
        patched=job.patched,
    )
    files = kept_files(committed, objects[-1], run.namespace, new)
    return Kept(node, ran, objects, tuple(files))


def _is_edited(manifest: Manifest, noted: str) -> bool:
    """Whether an object's ``spec`` is not the one that was noted; what was not noted is taken as it is."""
    return noted not in ("", digest(manifest.body.get("spec")))


def kept_files(
    committed: Committed, runtime: Manifest, namespace: str, like: Manifest
) -> list[Manifest]:
    """The ConfigMaps that the pods of a runtime, or of a job that has its own, mount, as they were written; none that
    others make."""
    lifted = lift([runtime], closed=True)
    (node,) = lifted.of(Runtime)
    files = []
    for job in node.jobs:
        for volume in job.pod.volumes:
            if volume.type != "configMap":
                continue
            name = f"{_FILES}/{namespace}/{volume.source}"
            path = object_path(JOBS, _FILES, volume.source, namespace)
            config_map = committed.manifest(name, path, like)
            if config_map is not None:
                files.append(config_map)
    return files


def kept_runtime(committed: Committed, name: str, like: Manifest) -> Manifest | None:
    """A runtime as it was written."""
    path = object_path(RUNTIMES, _RUNTIME, name)
    return committed.manifest(f"{_RUNTIME}/{name}", path, like)


def with_kept(
    plan: Plan, manifests: Sequence[Manifest], stay: Mapping[str, Kept]
) -> tuple[Plan, list[Manifest]]:
    """What was submitted in the place of what would be, and just those runtimes that jobs refer to.

    ``stay``: the jobs that stay, by the name that their object would have today.
    """
    jobs = list(plan.of(TrainJob))
    for index, job in enumerate(jobs):
        if job.name in stay:
            jobs[index] = stay[job.name].job
    used = {job.runtime for job in jobs}
    by_name: dict[tuple[str, str], Runtime] = {}
    for runtime in plan.of(Runtime):
        by_name[runtime.namespace, runtime.name] = runtime
    files: list[Manifest] = []
    for submitted in stay.values():
        runtime = submitted.runtime
        by_name[runtime.namespace, runtime.name] = runtime
        files += submitted.files
    runtimes = [runtime for runtime in by_name.values() if runtime.name in used]
    new_plan = plan.with_items(Runtime, runtimes)
    new_plan = new_plan.with_items(TrainJob, jobs)
    new_plan = replace(new_plan, derived=_derived(plan, stay.values()))
    return with_files(new_plan, _manifests(manifests, stay, used), files)


def with_files(
    plan: Plan, manifests: Sequence[Manifest], files: Iterable[Manifest]
) -> tuple[Plan, list[Manifest]]:
    """The plan and its objects with files that runs mount, where they are not there already."""
    known = {manifest.id for manifest in manifests}
    by_id = {file.id: file for file in files if file.id not in known}
    if not by_id:
        return plan, list(manifests)
    added = list(by_id.values())
    lifted = lift(added, closed=False)
    items = (*plan.items, *lifted.of(FileSet))
    return replace(plan, items=items), [*manifests, *added]


def _manifests(
    manifests: Sequence[Manifest], stay: Mapping[str, Kept], used: set[str]
) -> list[Manifest]:
    objects: dict[str, Manifest] = {}
    for new in manifests:
        written: tuple[Manifest, ...] = (new,)
        name = new.ref.name
        if kind_of_object(new.ref.group, new.ref.kind) and name in stay:
            written = stay[name].manifests
        for manifest in written:
            ref = manifest.ref
            if ref.kind != _RUNTIME or ref.name in used:
                objects[manifest.id] = manifest
    return list(objects.values())


def _derived(plan: Plan, stay: Iterable[Kept]) -> tuple[Derived, ...]:
    names = {}
    for submitted in stay:
        job = submitted.job
        names[f"job/{job.source_name}"] = job.name
    derived = [value for value in plan.derived if value.object not in names]
    why = "submitted before, and no other run is asked for"
    for owner, name in names.items():
        derived.append(Derived(owner, "name", name, why, FOLDER))
    return tuple(derived)


def kept_as_submitted(stay: Sequence[Kept]) -> Diagnostic:
    """The note on jobs that stay."""
    jobs = [submitted.job for submitted in stay]
    first = jobs[0]
    names = [f"`{job.source_name}`" for job in jobs]
    shown = ", ".join(names[:_NAMED])
    if len(names) > _NAMED:
        shown += f" and {len(names) - _NAMED} more"
    if len(names) > 1:
        verb = "stay as they were"
    else:
        verb = "stays as it was"
    return Diagnostic(
        "RES036",
        Severity.NOTE,
        f"{shown} {verb} submitted: nothing in the spec asks for another run",
        first.at,
        label="other values would be derived today",
        key=True,
        help=f"to run one again with them, write `rerun: {first.rerun + 1}`",
    )
