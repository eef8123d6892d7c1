"""The volumes that jobs mount: one of each storage in each namespace whose jobs name it."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.context import Context
from compiler.core.jobs.job import Job
from compiler.core.storage.storages import resolve_storage
from compiler.plan import PlanNode
from compiler.platforms.eks.flux.stages import stage
from compiler.platforms.eks.volumes.resolve import check_volumes, volumes
from compiler.platforms.eks.volumes.stages import VOLUMES, accounts, stages


def mounted(context: Context, jobs: list[Job]) -> Iterator[PlanNode]:
    """A PersistentVolume and its claim for each storage that the jobs of a namespace mount; of made file systems the
    stages too that carry them."""
    yield from accounts()
    storages = context.once(resolve_storage)
    pairs: dict[tuple[str, str], None] = {}
    for job in jobs:
        for index, mount in enumerate(job.spec.mounts):
            storage = storages.get(mount.storage)
            if storage is None:
                continue
            pairs[job.namespace, mount.storage] = None
            if storage.spec.ebs is not None:
                # Most specs have none.
                from compiler.platforms.eks.volumes.disks import check_mount

                at = job.at / "mounts" / index / "storage"
                check_mount(context, storage, job.spec, job.pools, at)
    check_volumes(context, storages, list(pairs))
    for name, storage in storages.items():
        if storage.spec.existing_disk is not None:
            from compiler.platforms.eks.volumes.disks import check_namespaces

            mounting = [pair for pair in pairs if pair[1] == name]
            owners = [namespace for namespace, _ in mounting]
            check_namespaces(context, storage, owners)
    for namespace, name in pairs:
        yield from volumes(context, storages[name], namespace)
    mounted_names = [name for _, name in pairs]
    kept = [name for name in mounted_names if storages[name].stays]
    if kept:
        # A claim is bound when a pod is placed: who waited for that would wait for the job.
        yield stage(context, "disks", "platform", account=VOLUMES, wait=False)
    before = context.answers.admission.stage(context)
    late = {name for name in mounted_names if storages[name].late}
    if late:
        waited_for = [storages[name] for name in sorted(late)]
        yield from stages(context, waited_for)
        # Jobs wait for the volumes: a gang that was admitted without would hold its nodes.
        yield stage(context, "jobs", before, "storage", account="jobs", wait=False)
    elif jobs:
        # A job that runs for a week is healthy all the while: nothing waits for it.
        yield stage(context, "jobs", before, account="jobs", wait=False)
