"""Which jobs say how often they save, to a storage that a pod beside them can mount."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.jobs.binding import mount_of
from trainyard.core.jobs.spec import Job, JobsSection, Mount
from trainyard.core.storage.spec import Storage, StorageSection
from trainyard.eks.settings.spec import ClusterSection
from trainyard.extensions.observability.monitoring.names import is_wanted
from trainyard.plan.context import Context


def saving(context: Context) -> Iterator[Job]:
    """The jobs whose saves an exporter can see."""
    for job in JobsSection.of(context.spec).jobs:
        if not job.completed and saved_to(context, job) is not None:
            yield job


def saved_to(context: Context, job: Job) -> Mount | None:
    """Where a job mounts the storage to which it saves; ``None`` where it does not say how often, or no pod of another
    node can look at it."""
    saves = job.checkpoint
    if not is_wanted(context) or saves is None or saves.every is None:
        return None
    mount = mount_of(job, saves.path)
    if not isinstance(mount, Mount):
        return None
    for storage in StorageSection.of(context.spec).storage:
        if storage.name == mount.storage and _is_shared(context, storage):
            return mount
    return None


def _is_shared(context: Context, storage: Storage) -> bool:
    """Whether the nodes of the system, which run AL2023, can mount it while a job does. A volume of EBS is one node's,
    and of nodes of EKS Auto Mode nothing says that they mount Lustre."""
    if storage.s3 is not None:
        return True
    return storage.lustre is not None and ClusterSection.of(context.spec).auto_mode is None
