"""Makes storage writable for the user of a job's image.

A new file system of FSx for Lustre, and a new volume of EBS, belong to root, and images that are built here run as
another user. Kubernetes gives a volume of EBS to a group, `fsGroup`; that of one which many nodes mount it leaves alone
(aws-fsx-csi-driver 1.17.0: CSIDriver without fsGroupPolicy, which is ReadWriteOnceWithFSType). There an init container
does it, as root.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import PurePosixPath

from trainyard.core.jobs import spec as spec_jobs
from trainyard.core.jobs.job import Job
from trainyard.core.jobs.launchers.launcher import launcher_of
from trainyard.core.pods.plan import Container, Mount
from trainyard.core.storage.storages import Storage, resolve_storage
from trainyard.language.units import Quantity
from trainyard.plan.context import Context

NAME = "storage-owner"
_SOURCE = "Kubernetes 1.36, persistent volumes: fsGroup; CSIDriver fsGroupPolicy"


def group_of_volumes(context: Context, job: Job) -> int | None:
    """The group that volumes of EBS are given to; ``None`` where root writes, or none is mounted."""
    user = _user(job)
    disks = [
        mount.storage for mount, storage in _written(context, job) if storage.spec.ebs is not None
    ]
    if user is None or not disks:
        return None
    context.derive(
        job.target,
        "fsGroup",
        user,
        f"the image runs as {user}, and a new volume of EBS belongs to root",
        _SOURCE,
        follows=job.at / "mounts",
    )
    return user


def owners(
    context: Context, job: Job, mounts: tuple[Mount, ...], share: dict[str, Quantity]
) -> Iterator[Container]:
    """The init container that gives the folders on Lustre to the image's user, where one is needed."""
    user = _user(job)
    commands = list(_commands(context, job, user or 0))
    if user is None or not commands:
        return
    if job.spec.runtime is not None:
        context.doubt(
            "RES221",
            f"job `{job.spec.name}` runs as user {user}, a new file system belongs to root, and the released runtime "
            f"`{job.spec.runtime}` has no init container that gives its folders away",
            job.at / "image",
            f"give the folder to it once, by a pod that is root: `install -d -o {user} -g {user} FOLDER`",
            source=_SOURCE,
        )
        return
    context.derive(
        job.target,
        f"initContainers.{NAME}",
        "; ".join(commands),
        f"the image runs as {user}, and a new file system belongs to root",
        _SOURCE,
        follows=job.at / "mounts",
    )
    script = "; ".join([*commands, "true"])
    yield Container(
        at=job.at / "mounts",
        name=NAME,
        image=job.spec.image,
        command=("/bin/sh", "-c", script),
        requests=share,
        limits=share,
        mounts=mounts,
        run_as_user=0,
        origins={"image": job.at / "image"},
    )


def _user(job: Job) -> int | None:
    """The user of the job's programs, where that is known and is not root. Containers of MPI run as root."""
    if launcher_of(job).framework == "mpi":
        return None
    return job.image_user or None


def _written(context: Context, job: Job) -> Iterator[tuple[spec_jobs.Mount, Storage]]:
    """The mounts that a job may write to, each with its storage."""
    storages = context.once(resolve_storage)
    for mount in job.spec.mounts:
        storage = storages.get(mount.storage)
        if storage is not None and not mount.read_only:
            yield mount, storage


def _commands(context: Context, job: Job, user: int) -> Iterator[str]:
    """What is done about a file system that was made for the cluster, and about the folder of checkpoints. What
    somebody has given to another user already stays as it is."""
    saves = job.spec.checkpoint
    for mount, storage in _written(context, job):
        if storage.spec.fsx_lustre is None:
            continue
        if storage.spec.created_lustre is not None:
            yield _if_of_root(mount.path, "chmod 1777")
        if saves is not None and PurePosixPath(saves.path).is_relative_to(mount.path):
            folder = shlex.quote(saves.path)
            yield f"mkdir -p {folder}"
            if saves.path != mount.path:
                yield _if_of_root(saves.path, f"chown {user}:{user}")


def _if_of_root(folder: str, command: str) -> str:
    quoted = shlex.quote(folder)
    return f'test "$(stat -c %u {quoted})" != 0 || {command} {quoted}'
