"""What a job mounts beside storage: its volumes, and its files, which become a ConfigMap.

All of it stands in the runtime, whose name is made of its content: a TrainJob's own patches mount each volume just once
(list key `name`, trainer.kubeflow.org/v1alpha1), and no pod of a run may see another text than the others.
"""

from __future__ import annotations

import hashlib
import json
import posixpath
import re
from collections.abc import Iterable
from itertools import count as numbers

from compiler.plan.units import Quantity
from compiler.resolve.context import Context
from compiler.source import Route
from compiler.subjects.jobs.binding import Job
from compiler.subjects.jobs.plan import FileSet, Mount, Volume
from compiler.subjects.jobs.spec import JobVolume
from compiler.subjects.namespaces.spec import NamespacesSection
from compiler.subjects.storage.resolve import resolve_storage

_LONGEST_KEY = 253  # apimachinery 0.35, IsConfigMapKey


def volumes_of(job: Job, files: FileSet | None, own: str) -> tuple[Volume, ...]:
    """The volumes of a job's pods, without storage and the one that is ``own`` to every pod."""
    found = [_volume(each) for each in job.spec.volumes]
    if files is not None:
        found.append(Volume(files_volume(job, own), "configMap", files.name))
    return tuple(found)


def mounts_of(job: Job, files: FileSet | None, own: str) -> tuple[Mount, ...]:
    """Where the volumes of :func:`volumes_of` appear in each container."""
    found = [Mount(each.name, each.path, each.read_only) for each in job.spec.volumes]
    if files is not None:
        volume = files_volume(job, own)
        keys = _keys(job.spec.files)
        found += [
            Mount(volume, path, read_only=True, sub_path=key)
            for path, key in keys.items()
        ]
    return tuple(found)


def files_volume(job: Job, own: str) -> str:
    """The name of the volume of the files, which no other volume has."""
    return free("files", [own, *(each.name for each in job.spec.volumes)])


def free(name: str, taken: Iterable[str]) -> str:
    """A name of a volume that is not taken, like the one wanted; 63 characters at most."""
    known = set(taken)
    if name not in known:
        return name
    others = (f"{name[:60]}-{number}" for number in numbers(2))
    return next(other for other in others if other not in known)


def _volume(given: JobVolume) -> Volume:
    """core/v1 Volume."""
    name, kind = given.name, given.chosen
    if given.persistent_volume_claim is not None:
        return Volume(name, kind, given.persistent_volume_claim.claim_name)
    if given.config_map is not None:
        return Volume(name, kind, given.config_map.name)
    if given.secret is not None:
        return Volume(name, kind, given.secret.secret_name)
    if given.empty_dir is not None:
        medium, size = given.empty_dir.medium or "", given.empty_dir.size_limit
        return Volume(name, kind, medium=medium, size=size)
    if given.node_local is not None:
        return Volume(name, "emptyDir", size=given.node_local.size)
    assert given.host_path is not None, "exactly one of the keys is given"
    return Volume(
        name, kind, given.host_path.path, host_type=given.host_path.type or ""
    )


# --- files


def file_set(job: Job) -> FileSet | None:
    """The ConfigMap of a job's files, named by its content; ``None`` without files."""
    texts = job.spec.files
    if not texts:
        return None
    keys = _keys(texts)
    data = {keys[path]: texts[path] for path in sorted(texts)}
    digest = hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()
    at = job.at / "files"
    return FileSet(
        at=at,
        name=f"files-{digest[:10]}",
        namespace=job.namespace,
        files=data,
        prune=False,
        origins={f"files.{key}": at / path for path, key in keys.items()},
    )


def _keys(texts: Iterable[str]) -> dict[str, str]:
    """The key of each file in its ConfigMap, by its path: the path with dots between its parts."""
    keys: dict[str, str] = {}
    for path in sorted(texts):
        plain = re.sub(r"[^-._a-zA-Z0-9]", "_", path.strip("/").replace("/", "."))
        key = re.sub(r"\A\.+", "_", plain)[-_LONGEST_KEY:]
        if key in keys.values():
            key = f"{hashlib.sha256(path.encode()).hexdigest()[:8]}.{key}"[
                :_LONGEST_KEY
            ]
        keys[path] = key
    return keys


# --- against the pool, the namespace and what else there is


def needs(context: Context, job: Job) -> None:
    """What the job's volumes name and others make."""
    for volume in job.spec.volumes:
        if volume.persistent_volume_claim is not None:
            kind, name = (
                "PersistentVolumeClaim",
                volume.persistent_volume_claim.claim_name,
            )
        elif volume.config_map is not None:
            kind, name = "ConfigMap", volume.config_map.name
        elif volume.secret is not None:
            kind, name = "Secret", volume.secret.secret_name
        else:
            continue
        context.external.add(("v1", kind, job.namespace, name))


def check_volumes(context: Context, job: Job, most: Quantity) -> None:
    """The volumes of a job; ``most`` is what pods get of the disks of a node of its pool."""
    storages = context.once(resolve_storage)
    local = Quantity(0)
    for index, volume in enumerate(job.spec.volumes):
        at = job.at / "volumes" / index
        claim = volume.persistent_volume_claim
        if claim is not None and claim.claim_name in storages:
            context.fault(
                "RES066",
                f"volume `{volume.name}` of job `{job.spec.name}` names the claim of storage `{claim.claim_name}`",
                at / "persistentVolumeClaim" / "claimName",
                f"write it under `mounts:`, as `{{storage: {claim.claim_name}, path: {volume.path}}}`",
            )
        if volume.node_local is not None and job.pool.local_storage != "raid0":
            _no_disks(context, job, volume, at)
            continue
        if volume.host_path is not None:
            _check_host(context, job, volume, at)
        size = _on_disk(volume)
        local = local + size
        if size > most or local > most:
            context.fault(
                "RES048",
                f"the volumes of job `{job.spec.name}` take {local} of a node's disks, and pods can get {most} of "
                f"pool `{job.pool.name}`",
                at,
                "make them smaller, or give the pool a larger `rootVolume`",
                source="Kubernetes, local ephemeral storage",
            )
            return


def _on_disk(volume: JobVolume) -> Quantity:
    if volume.node_local is not None:
        return volume.node_local.size
    directory = volume.empty_dir
    if directory is None or directory.medium or directory.size_limit is None:
        return Quantity(0)
    return directory.size_limit


def _no_disks(context: Context, job: Job, volume: JobVolume, at: Route) -> None:
    pool, type_name = job.pool, job.pool.instance.name
    what = (
        f"volume `{volume.name}` of job `{job.spec.name}` is on the node's NVMe disks"
    )
    if pool.instance.nvme_gb:
        why = f"pool `{pool.name}` does not use them"
        help = f"remove `localStorage: none` from pool `{pool.name}`"
    else:
        why = f"`{type_name}` has none"
        help = "write `emptyDir`, which is on the root volume, or take a type with NVMe disks"
    context.fault(
        "RES060",
        f"{what}, and {why}",
        at / "nodeLocal",
        help,
        source="EC2 DescribeInstanceTypes InstanceStorageInfo; karpenter.k8s.aws/v1 instanceStorePolicy",
    )


def _check_host(context: Context, job: Job, volume: JobVolume, at: Route) -> None:
    """Pod Security refuses host paths at the level `baseline` (Kubernetes, Pod Security Standards)."""
    declared = NamespacesSection.of(context.spec).namespaces
    levels = {each.name: each.pod_security for each in declared}
    level = levels.get(job.namespace, "baseline")
    if level == "privileged":
        return
    context.fault(
        "RES065",
        f"volume `{volume.name}` of job `{job.spec.name}` is a path of the node, which namespace `{job.namespace}` "
        f"refuses: it enforces `{level}`",
        at / "hostPath",
        "mount another kind of volume, or write "
        f"`namespaces: [{{name: {job.namespace}, podSecurity: privileged}}]`",
        source="Kubernetes, Pod Security Standards: host path volumes",
    )


# --- paths


def check_paths(context: Context, job: Job) -> None:
    """A pod with two volumes at one path is refused when it is made, long after its job was accepted."""
    known = {"/dev/shm": "the shared memory that every pod has"}
    for mount in job.spec.mounts:
        known.setdefault(posixpath.normpath(mount.path), "another mount")
    for index, volume in enumerate(job.spec.volumes):
        at = job.at / "volumes" / index
        _check_path(
            context, job, f"volume `{volume.name}`", volume.path, at / "path", known
        )
        known.setdefault(posixpath.normpath(volume.path), "another volume")
    for path in sorted(job.spec.files):
        at = job.at / "files" / path
        _check_path(context, job, "a file", path, at, known)
        if _check_folder(context, job, path, at):
            known.setdefault(posixpath.normpath(path), "another file")


def _check_path(
    context: Context, job: Job, what: str, path: str, at: Route, known: dict[str, str]
) -> None:
    there = known.get(posixpath.normpath(path))
    if there is not None:
        context.fault(
            "RES031",
            f"job `{job.spec.name}` mounts {what} at `{path}`, where {there} is",
            at,
            "write another path",
        )


def _check_folder(context: Context, job: Job, path: str, at: Route) -> bool:
    """A file is mounted by itself: the container runtime makes its folder, which it cannot in another volume of which
    nothing says that it can be written, or below a file."""
    spec = job.spec
    folders = [mount.path for mount in spec.mounts]
    folders += [volume.path for volume in spec.volumes]
    folders += [other for other in spec.files if other != path]
    for folder in folders:
        if posixpath.normpath(folder) != posixpath.normpath(path) and under(
            path, folder
        ):
            context.fault(
                "RES031",
                f"file `{path}` of job `{spec.name}` lies in what is mounted at `{folder}`",
                at,
                "write the file elsewhere, and say where by an option or a variable",
            )
            return False
    return True


def under(path: str, folder: str) -> bool:
    """Whether a path is a folder, or below it."""
    folder = posixpath.normpath(folder)
    return posixpath.commonpath([posixpath.normpath(path), folder]) == folder
