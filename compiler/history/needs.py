"""What runs need that the spec no longer asks for: as it was written, for as long as they go on.

Without it a runtime, or the claim of a storage, would leave the output with the last of the jobs that share it, and two
branches that take one job each would leave it behind.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from compiler.history.committed import Committed
from compiler.history.keep import kept_files, kept_runtime
from compiler.history.landing import Landing, landing
from compiler.history.runs import Run
from compiler.lift import lift
from compiler.manifest import Manifest
from compiler.plan import Plan
from compiler.subjects.jobs.plan import FileSet, Runtime
from compiler.subjects.pools import target as karpenter
from compiler.subjects.storage import target as storage
from compiler.subjects.storage.plan import PersistentVolume, VolumeClaim
from compiler.subjects.storage.resolve import volume_name
from compiler.targets.body import object_path

_CLAIM, _VOLUME = "PersistentVolumeClaim", "PersistentVolume"
_NODES = ("NodePool", "EC2NodeClass")


def with_needs(
    plan: Plan, manifests: Sequence[Manifest], runs: Iterable[Run], committed: Committed
) -> tuple[Plan, list[Manifest]]:
    """The plan and its objects with what runs that go on need beside them."""
    known = {str(manifest.ref): manifest for manifest in manifests}
    like = next(iter(manifests))
    needed: dict[str, Manifest] = {}
    for run in (each for each in runs if each.left):
        for found in _needs(run, known, committed, like):
            needed.setdefault(str(found.ref), found)
    if not needed:
        return plan, list(manifests)
    lifted = lift(list(needed.values()), closed=False)
    more = (
        *lifted.of(Runtime),
        *lifted.of(FileSet),
        *lifted.of(PersistentVolume),
        *lifted.of(VolumeClaim),
    )
    with_more = replace(plan, nodes=(*plan.nodes, *more))
    return with_more, [*manifests, *needed.values()]


def _needs(
    run: Run, known: dict[str, Manifest], committed: Committed, like: Manifest
) -> Iterator[Manifest]:
    found: Manifest | None = None
    if run.runtime and f"ClusterTrainingRuntime/{run.runtime}" not in known:
        found = kept_runtime(committed, run.runtime, like)
        if found is not None:
            yield found
    runtime = known.get(f"ClusterTrainingRuntime/{run.runtime}", found)
    if runtime is not None:
        for files in kept_files(committed, runtime, run.namespace, like):
            if str(files.ref) not in known:
                yield files
    for name in run.storage:
        volume = volume_name(run.namespace, name)
        for ref, path in (
            (
                f"{_CLAIM}/{run.namespace}/{name}",
                object_path(storage.FOLDER, _CLAIM, name, run.namespace),
            ),
            (f"{_VOLUME}/{volume}", object_path(storage.FOLDER, _VOLUME, volume)),
        ):
            found = committed.manifest(ref, path, like) if ref not in known else None
            if found is not None:
                yield found


def landed(committed: Committed, pool: str, manifests: Sequence[Manifest]) -> Landing:
    """What the nodes of a pool were, by its committed objects."""
    like = next(iter(manifests))
    named = [
        (kind, name)
        for kind in _NODES
        for name in committed.names(karpenter.FOLDER, kind)
    ]
    found = [
        committed.manifest(
            f"{kind}/{name}", object_path(karpenter.FOLDER, kind, name), like
        )
        for kind, name in named
    ]
    return landing(
        lift([each for each in found if each is not None], closed=False), pool
    )
