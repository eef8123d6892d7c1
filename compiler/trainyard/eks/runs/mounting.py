"""How a job's pods mount its storage: by patches of a TrainJob, or in their own template."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from trainyard.core.jobs.job import Job
from trainyard.core.jobs.launchers.launcher import launcher_of
from trainyard.core.pods.plan import (
    INITIALIZERS,
    Container,
    Mount,
    Pod,
    ReplicatedJob,
    Volume,
    patched,
)
from trainyard.core.storage.storages import Storage, resolve_storage
from trainyard.eks.jobs.plan import TRAIN_JOB, Patch, Runtime
from trainyard.eks.runs import released
from trainyard.eks.runs.volumes import files_volume, free
from trainyard.language.units import Quantity
from trainyard.plan.context import Context

MANAGER = "trainyard.dev/compiler"


SHARED_MEMORY = "dshm"


def with_mounts(
    context: Context, job: Job, replicated: tuple[ReplicatedJob, ...]
) -> tuple[ReplicatedJob, ...]:
    """Replicated jobs whose pods mount the job's storage themselves: no TrainJob patches them."""
    if not job.spec.mounts:
        return replicated
    return tuple(
        replace(own, pod=patched(own.pod, _mounting(context, job, own.pod))) for own in replicated
    )


def patches_for(context: Context, job: Job, job_runtime: Runtime, own: Pod) -> tuple[Patch, ...]:
    """The patches by which a TrainJob mounts its storage into every container of its pods; of a released runtime by
    which it says all of its own pod."""
    spec = job.spec
    lays_over = spec.mounts or spec.runtime
    if job.kind.name != TRAIN_JOB or not lays_over:
        return ()
    if spec.mounts:
        mounting = _mounting(context, job, own)
    else:
        mounting = None
    pod = mounting
    if spec.runtime is not None:
        pod = released.patch(own, mounting)
    if pod is None:
        return ()
    # podTemplateOverrides, the form before 2.2, name no manager.
    named = context.release.has("trainer.runtimePatches", context.version("trainer"))
    manager = MANAGER if named else ""
    return tuple(
        Patch(at=pod.at, job=replicated.name, pod=pod, manager=manager)
        for replicated in job_runtime.jobs
        if replicated.step not in INITIALIZERS
    )


def _mounting(context: Context, job: Job, own: Pod) -> Pod:
    """What a pod has more for the job's storage, in each of its init containers too: ours give its folders away."""
    at = job.at / "mounts"
    storages = context.once(resolve_storage)
    mounts, volumes = [], []
    named = zip(_volume_names(job), job.spec.mounts, strict=True)
    for name, mount in named:
        mounts.append(Mount(name, mount.path, mount.read_only))
        volumes.append(_volume_of(storages, name, mount.storage))
    return Pod(
        at=at,
        containers=(Container(at=at, name="node", mounts=tuple(mounts)),),
        init_containers=tuple(
            Container(at=at, name=init.name, mounts=tuple(mounts)) for init in own.init_containers
        ),
        volumes=tuple(volumes),
        origins={f"volumes.{volume.name}": at / index for index, volume in enumerate(volumes)},
    )


def own_volumes(patched: Pod | None) -> dict[str, Quantity]:
    """The volumes of what patches add to a pod that are made for each pod, and their sizes."""
    if patched is not None:
        volumes = patched.volumes
    else:
        volumes = ()
    return {
        volume.name: volume.size
        for volume in volumes
        if volume.type == "ephemeral" and volume.size is not None
    }


def _volume_of(storages: Mapping[str, Storage], name: str, storage: str) -> Volume:
    """The volume of a mounted storage: its claim, or one that is made for the pod."""
    known = storages.get(storage)
    if known is not None:
        disk = known.spec.disk
    else:
        disk = None
    if disk is not None and disk.each == "pod":
        return Volume(name, "ephemeral", f"ebs-{storage}", size=disk.size)
    return Volume(name, "persistentVolumeClaim", storage)


def _volume_names(job: Job) -> list[str]:
    """The name of a volume for each mount.

    One volume for each: Trainer's patches mount a volume only once (list key `name`). The names differ from those of
    the runtime's volumes.
    """
    used = [SHARED_MEMORY]
    used += [volume.name for volume in job.spec.volumes]
    used += launcher_of(job).volumes
    if job.spec.files:
        used.append(files_volume(job, SHARED_MEMORY))
    names: list[str] = []
    for mount in job.spec.mounts:
        name = free(mount.storage, used)
        names.append(name)
        used.append(name)
    return names
