"""The volumes that jobs mount: one of each storage in each namespace whose jobs name it."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.plan import PlanNode
from compiler.resolve.context import Context
from compiler.subjects.jobs.binding import Job
from compiler.subjects.storage.resolve import check_volumes, resolve_storage, volumes


def mounted(context: Context, jobs: list[Job]) -> Iterator[PlanNode]:
    """A PersistentVolume and its claim for each storage that the jobs of a namespace mount."""
    storages = context.once(resolve_storage)
    pairs: dict[tuple[str, str], None] = {}
    for job in jobs:
        for mount in job.spec.mounts:
            if mount.storage in storages:
                pairs[job.namespace, mount.storage] = None
    check_volumes(context, storages, list(pairs))
    for namespace, name in pairs:
        yield from volumes(context, storages[name], namespace)
