"""The volumes that jobs mount: one of each storage in each namespace whose jobs name it."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.jobs.job import Job
from trainyard.core.storage.storages import resolve_storage
from trainyard.eks.flux.stages import stage
from trainyard.eks.volumes.resolve import check_volumes, volumes
from trainyard.eks.volumes.stages import VOLUMES, accounts, stages
from trainyard.plan import PlanNode
from trainyard.plan.context import Context


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
                from trainyard.eks.volumes.disks import check_mount

                at = job.at / "mounts" / index / "storage"
                check_mount(context, storage, job.spec, job.pools, at)
    check_volumes(context, storages, list(pairs))
    for name, storage in storages.items():
        if storage.spec.existing_disk is not None:
            from trainyard.eks.volumes.disks import check_namespaces

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
