"""PyTorch's flight recorder: on the job's storage, so that its files outlive the pods.

Source: torch 2.6.0, 2.8.0, 2.9.0 and 2.12.0 (FlightRecorder.hpp and ProcessGroupNCCL.hpp of the wheels): all read the
names with ``NCCL``; from 2.8 on ``TORCH_FR_BUFFER_SIZE`` and ``TORCH_FR_DUMP_TEMP_FILE`` mean the same. Each rank
writes the file of that prefix and its own number, over the one before. The folder is not made.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping

from trainyard.core.jobs.binding import mount_of
from trainyard.core.jobs.job import Job
from trainyard.core.jobs.spec import Mount
from trainyard.core.jobs.variables import variable
from trainyard.core.pods.plan import EnvVar
from trainyard.core.storage.storages import Storage
from trainyard.plan.context import Context

BUFFER_ENV = "TORCH_NCCL_TRACE_BUFFER_SIZE"
DUMP_ENV = "TORCH_NCCL_DUMP_ON_TIMEOUT"
FILE_ENV = "TORCH_NCCL_DEBUG_INFO_TEMP_FILE"
VARIABLES = (BUFFER_ENV, DUMP_ENV, FILE_ENV)
_SOURCE = "torch 2.6.0 to 2.12.0, FlightRecorder.hpp"


def flight_recorder(context: Context, job: Job) -> list[EnvVar]:
    """The variables that switch it on, and say where its files go; none without the key, or a place."""
    given = job.spec.flight_recorder
    folder = _folder(job)
    if given is None or folder is None:
        return []
    at = job.at / "flightRecorder"
    variables = variable(
        context,
        job,
        BUFFER_ENV,
        str(given.entries),
        "the collectives that each rank remembers",
        _SOURCE,
        follows=at,
    )
    variables += variable(
        context,
        job,
        DUMP_ENV,
        "1",
        "they are written when a collective does not end",
        _SOURCE,
        follows=at,
    )
    variables += variable(
        context,
        job,
        FILE_ENV,
        f"{folder}/{prefix(job)}",
        "on the job's storage: each rank writes one file, over the one before",
        _SOURCE,
        follows=at,
    )
    return variables


def prefix(job: Job) -> str:
    """How the files begin; the number of the rank follows."""
    return f"flight-{job.spec.name}-rank_"


def check_flight_recorder(context: Context, job: Job, stored: Mapping[str, Storage]) -> None:
    """Whether there is anything to record, and a place that keeps it."""
    given = job.spec.flight_recorder
    if given is None:
        return
    at = job.at / "flightRecorder"
    if not job.pool.instance.gpus:
        context.fault(
            "RES343",
            f"job `{job.spec.name}` has no NVIDIA GPUs, and PyTorch records the collectives of NCCL",
            at,
            "remove it",
            source=_SOURCE,
        )
        return
    folder = _folder(job)
    mount = mount_of(job.spec, folder) if folder is not None else None
    if folder is None or mount is None or mount.is_read_only:
        what = (
            "no storage to write to"
            if folder is None
            else f"nothing at `{folder}` that outlives its pods"
        )
        context.fault(
            "RES341",
            f"job `{job.spec.name}` has {what}",
            at / "path" if given.path is not None else at,
            "write `path` with a folder of a storage that the job mounts and may write to",
        )
        return
    storage = stored.get(mount.storage) if isinstance(mount, Mount) else None
    if storage is not None and storage.spec.s3 is not None:
        context.fault(
            "RES342",
            f"`{folder}` is in the bucket of storage `{storage.spec.name}`, in which no file is written twice",
            at / "path" if given.path is not None else at,
            "write `path` with a folder of a file system: a rank writes its file anew each time",
            source="Mountpoint for Amazon S3, semantics: files are replaced with `--allow-overwrite` alone",
        )


def _folder(job: Job) -> str | None:
    """The folder of the files: as the job says it, where it saves, or its only mount."""
    given = job.spec.flight_recorder
    if given is not None and given.path is not None:
        return posixpath.normpath(given.path)
    if job.spec.checkpoint is not None:
        return posixpath.normpath(job.spec.checkpoint.path)
    writable = [mount.path for mount in job.spec.mounts if not mount.is_read_only]
    if len(writable) == 1:
        return posixpath.normpath(writable[0])
    return None
