"""Checkpoints: a small exporter for each job that saves to a storage that pods of other nodes can mount too.

One for each job, so that an edit of one changes no other's file (ADR 0009), in the job's namespace, where its claim is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainyard.core.jobs.binding import resolve_jobs
from trainyard.core.storage.storages import resolve_storage
from trainyard.eks.flux.accounts import deliverer, may_make, may_read
from trainyard.eks.flux.stages import stage
from trainyard.eks.settings.spec import ClusterSection
from trainyard.extensions.observability.checkpoints.names import (
    CPU,
    EXPORTER,
    MEMORY,
    PORT,
    Watched,
    watched,
    with_ceiling,
)
from trainyard.extensions.observability.checkpoints.plan import (
    CheckpointExporter,
    CheckpointProgram,
)
from trainyard.extensions.observability.monitoring.names import is_wanted, key_route
from trainyard.extensions.observability.monitoring.sources import exporter_monitor
from trainyard.plan import PlanItem
from trainyard.plan.context import Context

STAGE = "checkpoints"
_RIGHTS = (may_make("", "configmaps"), may_make("apps", "deployments"), may_read("", "pods"))
_SYSTEM = "system"
"""The node group of the controllers."""
_LEAST, _MOST = 60, 600
"""Seconds between two looks: a tenth of the interval, within these."""


def resolve(context: Context) -> Iterator[PlanItem]:
    """Nothing where no job is watched."""
    if not is_wanted(context):
        return
    found = list(watched(context))
    _explain(context, found)
    if not found:
        return
    for namespace in dict.fromkeys(each.job.namespace for each in found):
        yield CheckpointProgram(at=key_route(), name=EXPORTER, namespace=namespace)
        yield exporter_monitor(
            context, f"{EXPORTER}-{namespace}", EXPORTER, "metrics", beside=namespace
        )
    for each in found:
        yield _exporter(context, each)
    # A file system that is not there yet keeps pods waiting, and nothing else waits for them.
    yield stage(context, STAGE, "platform", account=STAGE, wait=False)
    yield from deliverer(STAGE, *_RIGHTS)


def _explain(context: Context, found: Sequence[Watched]) -> None:
    """What watches each job that says how often it saves, or why nothing does."""
    names = {each.job.spec.name for each in found}
    ceilings = with_ceiling(context)
    for job in context.once(resolve_jobs):
        saves = job.spec.checkpoint
        if saves is None or saves.every is None:
            continue
        watcher = "none"
        if job.spec.name in names:
            watcher, reason = (
                f"{EXPORTER}-{job.spec.name}",
                "a pod beside it says when it saved last",
            )
        elif job.namespace in ceilings:
            reason = f"it would count against the `quota` of namespace {job.namespace}"
        else:
            reason = "no pod on a node of the system can mount what it saves to"
        context.derive(job.target, "checkpoint.exporter", watcher, reason, "set by Trainyard")


def _exporter(context: Context, watched: Watched) -> CheckpointExporter:
    job, storage = watched.job, watched.mount.storage
    auto = ClusterSection.of(context.spec).auto_mode is not None
    place = job.at / "checkpoint"
    return CheckpointExporter(
        at=place,
        name=f"{EXPORTER}-{job.spec.name}",
        namespace=job.namespace,
        image=context.release.image(EXPORTER),
        job=job.spec.name,
        claim=storage,
        folder=watched.folder,
        sized=context.once(resolve_storage)[storage].spec.lustre is not None,
        every=watched.every,
        # A look at a bucket is a request for each thousand objects.
        look=min(max(watched.every // 10, _LEAST), _MOST),
        port=PORT,
        system="" if auto else _SYSTEM,
        cpu=CPU,
        memory=MEMORY,
        origins={"every": place / "every", "folder": place / "path"},
    )
