"""Jobs that were submitted stay as they were submitted, word for word, unless the spec asks for another run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from compiler.diagnostics import Diagnostic, Severity
from compiler.history.committed import Committed
from compiler.history.runs import FOLDER, Run
from compiler.history.words import digest
from compiler.lift import lift
from compiler.manifest import Manifest
from compiler.plan import Derived, Plan
from compiler.subjects.jobs.plan import FileSet, Runtime, TrainJob
from compiler.subjects.jobs.target import JOBS, RUNTIMES
from compiler.targets.body import object_path

_KIND = "TrainJob"
_RUNTIME = "ClusterTrainingRuntime"
_FILES = "ConfigMap"
_NAMED = 3  # jobs that a message names


@dataclass(frozen=True, slots=True)
class Kept:
    """A job that stays: its node, its runtime's and its files' as they were written, and the objects, word for word.

    ``files`` are the ConfigMaps that the runtime mounts and that we wrote.
    """

    job: TrainJob
    runtime: Runtime
    manifests: tuple[Manifest, Manifest]
    files: tuple[Manifest, ...] = ()


def kept(committed: Committed, run: Run, job: TrainJob, new: Manifest) -> Kept | None:
    """The job as it was submitted; ``None`` where its files are not as they were written."""
    if run.namespace != job.namespace:
        return None
    path = object_path(JOBS, _KIND, run.object, run.namespace)
    old = committed.manifest(f"{_KIND}/{run.namespace}/{run.object}", path, new)
    if old is None or run.made not in ("", digest(old.body["spec"])):
        return None
    runtime = kept_runtime(committed, old.body["spec"]["runtimeRef"]["name"], new)
    if runtime is None or run.ran not in ("", digest(runtime.body["spec"])):
        return None
    lifted = lift([old, runtime], closed=False)
    (node,), (ran,) = lifted.of(TrainJob), lifted.of(Runtime)
    node = replace(
        node,
        at=job.at,
        origins=job.origins,
        source_name=job.source_name,
        pool=job.pool,
        rerun=job.rerun,
        patched=job.patched,
    )
    files = kept_files(committed, runtime, run.namespace, new)
    return Kept(node, ran, (old, runtime), tuple(files))


def kept_files(
    committed: Committed, runtime: Manifest, namespace: str, like: Manifest
) -> list[Manifest]:
    """The ConfigMaps that the pods of a runtime mount, as they were written; none that others make."""
    (ran,) = lift([runtime], closed=False).of(Runtime)
    volumes = [volume for job in ran.jobs for volume in job.pod.volumes]
    kept = [
        committed.manifest(
            f"{_FILES}/{namespace}/{volume.source}",
            object_path(JOBS, _FILES, volume.source, namespace),
            like,
        )
        for volume in volumes
        if volume.type == "configMap"
    ]
    return [kept_file for kept_file in kept if kept_file is not None]


def kept_runtime(committed: Committed, name: str, like: Manifest) -> Manifest | None:
    """A runtime as it was written."""
    return committed.manifest(
        f"{_RUNTIME}/{name}", object_path(RUNTIMES, _RUNTIME, name), like
    )


def with_kept(
    plan: Plan, manifests: Sequence[Manifest], stay: Mapping[str, Kept]
) -> tuple[Plan, list[Manifest]]:
    """What was submitted in the place of what would be, and just those runtimes that jobs refer to.

    ``stay``: the jobs that stay, by the name that their object would have today.
    """
    jobs = tuple(
        stay[job.name].job if job.name in stay else job for job in plan.of(TrainJob)
    )
    used = {job.runtime for job in jobs}
    runtimes = {runtime.name: runtime for runtime in plan.of(Runtime)}
    runtimes.update(
        (submitted.runtime.name, submitted.runtime) for submitted in stay.values()
    )
    ran = tuple(runtime for name, runtime in runtimes.items() if name in used)
    kept_plan = plan.with_nodes(Runtime, ran).with_nodes(TrainJob, jobs)
    kept_plan = replace(kept_plan, derived=_derived(plan, stay.values()))
    return with_files(
        kept_plan,
        _manifests(manifests, stay, used),
        [files for submitted in stay.values() for files in submitted.files],
    )


def with_files(
    plan: Plan, manifests: Sequence[Manifest], files: Iterable[Manifest]
) -> tuple[Plan, list[Manifest]]:
    """The plan and its objects with files that runs mount, where they are not there already."""
    known = {manifest.id for manifest in manifests}
    more = {artifact.id: artifact for artifact in files if artifact.id not in known}
    if not more:
        return plan, list(manifests)
    lifted = lift(list(more.values()), closed=False).of(FileSet)
    nodes = (*plan.nodes, *lifted)
    return replace(plan, nodes=nodes), [*manifests, *more.values()]


def _manifests(
    manifests: Sequence[Manifest], stay: Mapping[str, Kept], used: set[str]
) -> list[Manifest]:
    objects: dict[str, Manifest] = {}
    for new in manifests:
        name = new.ref.name
        written = (
            stay[name].manifests if new.ref.kind == _KIND and name in stay else (new,)
        )
        for manifest in written:
            if manifest.ref.kind != _RUNTIME or manifest.ref.name in used:
                objects[manifest.id] = manifest
    return list(objects.values())


def _derived(plan: Plan, stay: Iterable[Kept]) -> tuple[Derived, ...]:
    names = {
        f"job/{submitted.job.source_name}": submitted.job.name for submitted in stay
    }
    derived = [value for value in plan.derived if value.object not in names]
    for job, name in names.items():
        derived.append(
            Derived(
                job,
                "name",
                name,
                "submitted before, and no other run is asked for",
                FOLDER,
            )
        )
    return tuple(derived)


def kept_as_submitted(stay: Sequence[Kept]) -> Diagnostic:
    """The note on jobs that stay."""
    first = stay[0].job
    names = [f"`{submitted.job.source_name}`" for submitted in stay]
    shown = ", ".join(names[:_NAMED])
    if len(names) > _NAMED:
        shown += f" and {len(names) - _NAMED} more"
    verb = "stay as they were" if len(names) > 1 else "stays as it was"
    return Diagnostic(
        "RES036",
        Severity.NOTE,
        f"{shown} {verb} submitted: nothing in the spec asks for another run",
        first.at,
        label="other values would be derived today",
        key=True,
        help=f"to run one anew with them, write `rerun: {first.rerun + 1}`",
    )
