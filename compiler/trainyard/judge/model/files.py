"""Files that a job's program gets from ConfigMaps or its batch script, by their paths."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from functools import lru_cache

from trainyard.core.jobs.plan import Gang
from trainyard.core.pods.plan import Mount
from trainyard.eks.jobs.plan import FileSet
from trainyard.judge.model.reading import Reading
from trainyard.judge.model.work import Work
from trainyard.language.dataclass import dataclass
from trainyard.language.places import Route
from trainyard.output.body import value_at
from trainyard.output.manifest import Manifest
from trainyard.plan import Plan


@dataclass(frozen=True, slots=True)
class File:
    """A file of a job: its text, where that is written, and whether its job runs in pods."""

    text: str
    at: Route
    in_pods: bool = True


def all_files(plan: Plan) -> Iterator[tuple[str, File]]:
    """The files that jobs are given, each with its name."""
    for files in plan.of(FileSet):
        for key, text in files.files.items():
            yield key, File(text, files.where(f"files.{key}"))
    for job in plan.of(Gang):
        for path, text in job.files.items():
            yield path, File(text, job.where(f"files.{path}"), in_pods=job.has_pods)


def file_of(work: Work, world: Reading, path: str) -> File | None:
    """The file at a path; ``None`` where no ConfigMap of the set has it (core/v1 ConfigMapVolumeSource, subPath), nor a
    batch script."""
    own = work.job.files.get(path)
    if own is not None:
        return File(own, work.job.where(f"files.{path}"), in_pods=work.has_pods)
    if work.pod is None or work.main is None:
        return None
    sources = {
        volume.name: volume.source for volume in work.pod.volumes if volume.type == "configMap"
    }
    for mount in work.main.mounts:
        source = sources.get(mount.volume)
        key = _key(mount, path)
        if source and key:
            return _entry(world, work.namespace, source, key)
    return None


def _key(mount: Mount, path: str) -> str:
    """The key of the ConfigMap that appears at a path; empty where the mount has nothing there."""
    if mount.sub_path:
        if mount.path == path:
            return mount.sub_path
        return ""
    folder, name = posixpath.split(path)
    if folder != posixpath.normpath(mount.path):
        return ""
    return name


def _entry(world: Reading, namespace: str, name: str, key: str) -> File | None:
    files = world.plan.named(FileSet, name, namespace)
    if files is not None and key in files.files:
        where = files.where(f"files.{key}")
        return File(files.files[key], where)
    manifest = _config_maps(world).get((namespace, name))
    if manifest is None:
        return None
    text = value_at(manifest.body, "data", key)
    if not isinstance(text, str):
        return None
    place = Route((manifest.id, "data", key))
    return File(text, place)


@lru_cache(maxsize=1)
def _config_maps(world: Reading) -> dict[tuple[str, str], Manifest]:
    """The ConfigMaps of a set by namespace and name: many jobs ask for theirs."""
    config_maps = {}
    for manifest in world.manifests:
        ref = manifest.ref
        if ref.kind == "ConfigMap":
            config_maps[ref.namespace, ref.name] = manifest
    return config_maps
