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
from typing import TYPE_CHECKING

from compiler.core.jobs.binding import Job, is_under
from compiler.core.pods.plan import Mount, Volume
from compiler.core.storage.storages import resolve_storage
from compiler.core.teams.spec import NamespacesSection
from compiler.plan.units import Quantity
from compiler.platforms.eks.runs.plan import FileSet
from compiler.resolve.context import Context
from compiler.source import Route

if TYPE_CHECKING:
    from compiler.core.jobs.forms.volumes import JobVolume

_LONGEST_KEY = 253  # apimachinery 0.35, IsConfigMapKey


def volumes_of(job: Job, files: FileSet | None, own: str) -> tuple[Volume, ...]:
    """The volumes of a job's pods, without storage and the one that is ``own`` to every pod."""
    volumes = [_volume(volume) for volume in job.spec.volumes]
    if files is not None:
        volumes.append(Volume(files_volume(job, own), "configMap", files.name))
    return tuple(volumes)


def mounts_of(job: Job, files: FileSet | None, own: str) -> tuple[Mount, ...]:
    """Where the volumes of :func:`volumes_of` appear in each container."""
    mounts = [Mount(volume.name, volume.path, volume.read_only) for volume in job.spec.volumes]
    if files is not None:
        volume = files_volume(job, own)
        for path, key in _keys(job.spec.files).items():
            mount = Mount(volume, path, read_only=True, sub_path=key)
            mounts.append(mount)
    return tuple(mounts)


def files_volume(job: Job, own: str) -> str:
    """The name of the volume of the files, which no other volume has."""
    others = [volume.name for volume in job.spec.volumes]
    return free("files", [own, *others])


def free(name: str, used: Iterable[str]) -> str:
    """A name of a volume that is not used yet, like the one wanted; 63 characters at most."""
    used = set(used)
    if name not in used:
        return name
    stem = name[:60]
    candidates = (f"{stem}-{number}" for number in numbers(2))
    return next(candidate for candidate in candidates if candidate not in used)


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
        medium = given.empty_dir.medium or ""
        size = given.empty_dir.size_limit
        return Volume(name, kind, medium=medium, size=size)
    if given.node_local is not None:
        return Volume(name, "emptyDir", size=given.node_local.size)
    assert given.host_path is not None, "exactly one of the keys is given"
    return Volume(name, kind, given.host_path.path, host_type=given.host_path.type or "")


# --- files


def file_set(job: Job) -> FileSet | None:
    """The ConfigMap of a job's files, named by its content; ``None`` without files."""
    texts = job.spec.files
    if not texts:
        return None
    keys = _keys(texts)
    data = {keys[path]: texts[path] for path in sorted(texts)}
    written = json.dumps(data, sort_keys=True)
    digest = hashlib.sha256(written.encode()).hexdigest()
    at = job.at / "files"
    origins = {}
    for path, key in keys.items():
        place = _place_of(job, path)
        origins[f"files.{key}"] = place
    return FileSet(
        at=at,
        name=f"files-{digest[:10]}",
        namespace=job.namespace,
        files=data,
        prune=False,
        origins=origins,
    )


def _place_of(job: Job, path: str) -> Route:
    """The place in the spec of a file: its text, or what it is rendered from."""
    rendered = job.spec.deepspeed
    if rendered is not None and path == rendered.path:
        return job.at / "deepspeed"
    return job.at / "files" / path


def _keys(texts: Iterable[str]) -> dict[str, str]:
    """The key of each file in its ConfigMap, by its path: the path with dots between its parts."""
    keys: dict[str, str] = {}
    for path in sorted(texts):
        dotted = path.strip("/").replace("/", ".")
        plain = re.sub(r"[^-._a-zA-Z0-9]", "_", dotted)
        tail = re.sub(r"\A\.+", "_", plain)
        key = tail[-_LONGEST_KEY:]
        if key in keys.values():
            whole = hashlib.sha256(path.encode()).hexdigest()
            digest = whole[:8]
            key = f"{digest}.{key}"[:_LONGEST_KEY]
        keys[path] = key
    return keys


# --- against the pool, the namespace and what else there is


def needs(context: Context, job: Job) -> None:
    """Record the external objects that the job's volumes name."""
    for volume in job.spec.volumes:
        source = _external_source(volume)
        if source is not None:
            kind, name = source
            external = ("v1", kind, job.namespace, name)
            context.external.add(external)


def _external_source(volume: JobVolume) -> tuple[str, str] | None:
    """Kind and name of the object that must exist for a volume."""
    if volume.persistent_volume_claim is not None:
        return "PersistentVolumeClaim", volume.persistent_volume_claim.claim_name
    if volume.config_map is not None:
        return "ConfigMap", volume.config_map.name
    if volume.secret is not None:
        return "Secret", volume.secret.secret_name
    return None


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
        if size > most or local > most:
            context.fault(
                "RES048",
                f"the volumes of job `{job.spec.name}` take {local} of a node's disks, "
                f"and pods can get {most} of pool `{job.pool.name}`",
                at,
                "make them smaller, or give the pool a larger `rootVolume`",
                source="Kubernetes, local ephemeral storage",
            )
            return
    for index, mount in enumerate(job.spec.mounts):
        mounted = storages.get(mount.storage)
        cache = mounted.spec.s3.cache if mounted and mounted.spec.s3 else None
        if cache is None or cache.storage is not None:
            continue
        local = local + cache.size
        if local > most:
            context.fault(
                "RES048",
                f"with the cache of storage `{mount.storage}`, which may grow to {cache.size}, job `{job.spec.name}` "
                f"takes {local} of a node's disks, and pods can get {most} of pool `{job.pool.name}`",
                job.at / "mounts" / index / "storage",
                "make the cache smaller, or hold it by a storage `ebs` with `each: pod`",
                source="mountpoint-s3-csi-driver v2.7.0, docs/CACHING.md",
            )
            return


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
    if pool.instance.nvme_gb:
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


# --- paths


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
