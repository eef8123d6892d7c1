"""Checks of a job's volumes and files against its pool, its namespace, and its other mounts."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from trainyard.core.jobs.binding import is_under
from trainyard.core.jobs.job import Job
from trainyard.core.jobs.keys import JobVolume
from trainyard.core.storage.storages import resolve_storage
from trainyard.core.teams.spec import NamespacesSection
from trainyard.language.places import Route
from trainyard.language.units import Quantity
from trainyard.plan.context import Context

if TYPE_CHECKING:
    from trainyard.core.pools.pools import Pool


def check_volumes(context: Context, job: Job, most: Quantity | None) -> None:
    """The volumes of a job; ``most`` is what pods get of the disks of a node of its pool, where that is known."""
    storages = context.once(resolve_storage)
    local = Quantity(0)
    for index, volume in enumerate(job.spec.volumes):
        at = job.at / "volumes" / index
        claim = volume.persistent_volume_claim
        if claim is not None and claim.claim_name in storages:
            context.fault(
                "RES066",
                f"volume `{volume.name}` of job `{job.spec.name}` "
                f"names the claim of storage `{claim.claim_name}`",
                at / "persistentVolumeClaim" / "claimName",
                f"write it under `mounts:`, as `{{storage: {claim.claim_name}, path: {volume.path}}}`",
            )
        is_local = volume.node_local is not None
        if is_local and job.pool.local_storage != "raid0":
            _no_disks(context, job, volume, at)
            continue
        if volume.host_path is not None:
            _check_host(context, job, volume, at)
        size = _on_disk(volume)
        local = local + size
        if most is not None and (size > most or local > most):
            context.fault(
                "RES048",
                f"the volumes of job `{job.spec.name}` take {local} of a node's disks, "
                f"and pods can get {most} of pool `{job.pool.name}`",
                at,
                f"make them smaller, or {larger_disks(job.pool)}",
                source="Kubernetes, local ephemeral storage",
            )
            return
    for index, mount in enumerate(job.spec.mounts):
        mounted = storages.get(mount.storage)
        cache = mounted.spec.s3.cache if mounted and mounted.spec.s3 else None
        if cache is None or cache.storage is not None:
            continue
        local = local + cache.size
        if most is not None and local > most:
            context.fault(
                "RES048",
                f"with the cache of storage `{mount.storage}`, which may grow to {cache.size}, job `{job.spec.name}` "
                f"takes {local} of a node's disks, and pods can get {most} of pool `{job.pool.name}`",
                job.at / "mounts" / index / "storage",
                "make the cache smaller, or hold it by a storage `ebs` with `each: pod`",
                source="mountpoint-s3-csi-driver v2.7.0, docs/CACHING.md",
            )
            return


def larger_disks(pool: Pool) -> str:
    """What gives pods more space on the disks of a node."""
    if pool.local_storage != "raid0":
        return "give the pool a larger `rootVolume`"
    instance = pool.instance
    return (
        "take a type with larger NVMe disks: what pods write lies on those of "
        f"`{instance.name}`, which have {instance.nvme_gb} GB"
    )


def _on_disk(volume: JobVolume) -> Quantity:
    if volume.node_local is not None:
        return volume.node_local.size
    directory = volume.empty_dir
    if directory is None or directory.medium:
        return Quantity(0)
    if directory.size_limit is None:
        return Quantity(0)
    return directory.size_limit


def _no_disks(context: Context, job: Job, volume: JobVolume, at: Route) -> None:
    pool = job.pool
    disks_at = pool.launcher.disks_at
    if pool.instance.nvme_gb and disks_at:
        why = f"pods of {pool.launcher.name} lie on the root volume of a node"
        help = (
            "mount a storage `ebs` with `each: pod`, or write "
            f"`hostPath: {{path: {disks_at}}}` where the platform team allows that (RUN052)"
        )
    elif pool.instance.nvme_gb:
        why = f"pool `{pool.name}` does not use them"
        help = f"remove `localStorage: none` from pool `{pool.name}`"
    else:
        why = f"`{pool.instance.name}` has none"
        help = "write `emptyDir`, which is on the root volume, or take a type with NVMe disks"
    context.fault(
        "RES060",
        f"volume `{volume.name}` of job `{job.spec.name}` is on the node's NVMe disks, and {why}",
        at / "nodeLocal",
        help,
        source="EC2 DescribeInstanceTypes InstanceStorageInfo; karpenter.k8s.aws/v1 instanceStorePolicy",
    )


def _check_host(context: Context, job: Job, volume: JobVolume, at: Route) -> None:
    """Pod Security refuses host paths at the level `baseline` (Kubernetes, Pod Security Standards)."""
    declared = NamespacesSection.of(context.spec).namespaces
    levels = {namespace.name: namespace.pod_security for namespace in declared}
    level = levels.get(job.namespace, "baseline")
    if level == "privileged":
        return
    context.fault(
        "RES065",
        f"volume `{volume.name}` of job `{job.spec.name}` is a path of the node, "
        f"which namespace `{job.namespace}` refuses: "
        f"it enforces `{level}`",
        at / "hostPath",
        "mount another kind of volume, or write "
        f"`namespaces: [{{name: {job.namespace}, podSecurity: privileged}}]`",
        source="Kubernetes, Pod Security Standards: host path volumes",
    )


def check_paths(context: Context, job: Job) -> None:
    """The API server refuses a pod with two volumes at one path, long after it accepted the job."""
    known = {"/dev/shm": "the shared memory that every pod has"}
    for mount in job.spec.mounts:
        known.setdefault(posixpath.normpath(mount.path), "another mount")
    for index, volume in enumerate(job.spec.volumes):
        at = job.at / "volumes" / index / "path"
        _check_path(context, job, f"volume `{volume.name}`", volume.path, at, known)
        known.setdefault(posixpath.normpath(volume.path), "another volume")
    for path in sorted(job.spec.files):
        at = job.at / "files" / path
        _check_path(context, job, "a file", path, at, known)
        if _check_folder(context, job, path, at):
            known.setdefault(posixpath.normpath(path), "another file")


def _check_path(
    context: Context, job: Job, what: str, path: str, at: Route, known: dict[str, str]
) -> None:
    """``known`` is what is mounted so far, by its path."""
    occupant = known.get(posixpath.normpath(path))
    if occupant is not None:
        context.fault(
            "RES031",
            f"job `{job.spec.name}` mounts {what} at `{path}`, where {occupant} is",
            at,
            "write another path",
        )


def _check_folder(context: Context, job: Job, path: str, at: Route) -> bool:
    """Whether the folder of a file can be made.

    A file is mounted by itself, and the container runtime makes its folder. It cannot do that below another file, or in
    another volume, which may be read-only.
    """
    spec = job.spec
    folders = [mount.path for mount in spec.mounts]
    folders += [volume.path for volume in spec.volumes]
    files = spec.files
    folders += [other for other in files if other != path]
    for folder in folders:
        normal = posixpath.normpath(folder)
        same = normal == posixpath.normpath(path)
        if is_under(path, folder) and not same:
            context.fault(
                "RES031",
                f"file `{path}` of job `{spec.name}` lies in what is mounted at `{folder}`",
                at,
                "write the file elsewhere, and say where by an option or a variable",
            )
            return False
    return True
