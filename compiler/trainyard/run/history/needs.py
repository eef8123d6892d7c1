"""Keeps what continuing runs need though the spec no longer asks for it, as it was written.

Without it a runtime, or the claim of a storage, would leave the output with the last of the jobs that share it, and two
branches that take one job each would leave it behind.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from trainyard.core.storage.plan import FOLDER, PersistentVolume, VolumeClaim
from trainyard.eks.cluster.lower import NODE_GROUPS
from trainyard.eks.jobs.plan import TRAIN_JOB, FileSet, Runtime
from trainyard.eks.nodes import lower as karpenter
from trainyard.eks.volumes.resolve import made_folder, volume_name
from trainyard.lift import lift
from trainyard.output.lowering.body import object_path
from trainyard.output.manifest import Manifest
from trainyard.plan import Plan
from trainyard.run.history.committed import Committed
from trainyard.run.history.keep import kept_files, kept_runtime
from trainyard.run.history.landing import Landing, landing
from trainyard.run.history.runs import Run

_CLAIM, _VOLUME = "PersistentVolumeClaim", "PersistentVolume"
_NODES = ("NodePool", "EC2NodeClass", "NodeClass")


def with_needs(
    plan: Plan, manifests: Sequence[Manifest], runs: Iterable[Run], committed: Committed
) -> tuple[Plan, list[Manifest]]:
    """The plan and its objects, with what continuing runs need in addition."""
    known = {str(manifest.ref): manifest for manifest in manifests}
    like = next(iter(manifests))
    needed: dict[str, Manifest] = {}
    for run in runs:
        if run.left:
            for manifest in _needs(run, known, committed, like):
                needed.setdefault(str(manifest.ref), manifest)
    if not needed:
        return plan, list(manifests)
    lifted = lift(list(needed.values()), closed=False)
    more = (
        *lifted.of(Runtime),
        *lifted.of(FileSet),
        *lifted.of(PersistentVolume),
        *lifted.of(VolumeClaim),
    )
    items = (*plan.items, *more)
    return replace(plan, items=items), [*manifests, *needed.values()]


def _needs(
    run: Run, known: dict[str, Manifest], committed: Committed, like: Manifest
) -> Iterator[Manifest]:
    ref = f"ClusterTrainingRuntime/{run.runtime}"
    runtime = known.get(ref)
    if run.kind != TRAIN_JOB:  # its pods are its own
        path = run.committed_path
        runtime = committed.manifest(run.ref, path, like)
    elif run.runtime and runtime is None:
        runtime = kept_runtime(committed, run.runtime, like)
        if runtime is not None:
            yield runtime
    if runtime is not None:
        for files in kept_files(committed, runtime, run.namespace, like):
            if str(files.ref) not in known:
                yield files
    for name in run.storage:
        for ref, path in _storage_objects(run.namespace, name):
            if ref not in known:
                manifest = committed.manifest(ref, path, like)
                if manifest is not None:
                    yield manifest


def _storage_objects(namespace: str, name: str) -> Iterator[tuple[str, str]]:
    """Reference and path of the claim of a storage in a namespace, and of its volume, where either may be written."""
    volume = volume_name(namespace, name)
    for folder in (FOLDER, made_folder(name)):
        claim_path = object_path(folder, _CLAIM, name, namespace)
        yield f"{_CLAIM}/{namespace}/{name}", claim_path
        volume_path = object_path(folder, _VOLUME, volume)
        yield f"{_VOLUME}/{volume}", volume_path


def committed_landing(committed: Committed, pool: str, manifests: Sequence[Manifest]) -> Landing:
    """What the nodes of a pool were, by its committed objects."""
    like = next(iter(manifests))
    nodes = []
    for path in committed.files_below(NODE_GROUPS):
        body = committed.template(path)
        if body is not None:
            nodes.append(Manifest(body, path, like.at))
    for kind in _NODES:
        for name in committed.names(karpenter.FOLDER, kind):
            path = object_path(karpenter.FOLDER, kind, name)
            ref = f"{kind}/{name}"
            manifest = committed.manifest(ref, path, like)
            if manifest is not None:
                nodes.append(manifest)
    return landing(lift(nodes, closed=False), pool)
