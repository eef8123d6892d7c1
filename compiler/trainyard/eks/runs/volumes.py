"""A job's own volumes, and its files, which become a ConfigMap.

All of it stands in the runtime, whose name is made of its content: a TrainJob's own patches mount each volume just once
(list key `name`, trainer.kubeflow.org/v1alpha1), and no pod of a run may see another text than the others.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from itertools import count as numbers

from trainyard.core.jobs.job import Job
from trainyard.core.jobs.keys import JobVolume
from trainyard.core.pods.plan import Mount, Volume
from trainyard.eks.jobs.plan import FileSet
from trainyard.language.places import Route
from trainyard.plan.context import Context

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


# --- paths
