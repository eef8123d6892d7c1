"""Dashboards: those of the subjects that a cluster has, where it is monitored."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.extensions.observability.dashboards.page import Page
from trainyard.extensions.observability.dashboards.plan import Dashboard
from trainyard.extensions.observability.monitoring.names import (
    has_efa,
    has_gpus,
    is_wanted,
    key_route,
    monitoring_of,
    namespace,
)
from trainyard.extensions.observability.monitoring.saving import saving
from trainyard.plan import PlanItem
from trainyard.plan.context import Context


def resolve(context: Context) -> Iterator[PlanItem]:
    """Nothing where the spec does not ask for monitoring."""
    if not is_wanted(context):
        return
    for page in _pages(context):
        yield Dashboard(
            at=key_route(),
            name=f"dashboard-{page.subject}",
            namespace=namespace(context),
            file=f"{page.subject}.json",
            uid=f"trainyard-{page.subject}",
            title=page.title,
            variables=page.variables,
            panels=page.panels,
        )


def _pages(context: Context) -> Iterator[Page]:
    """A page a subject: none of them names single jobs, queues, pools or volumes."""
    # Their texts are only needed here, and are of no use to a cluster without monitoring.
    from trainyard.extensions.observability.dashboards.subjects import (
        checkpoints,
        cost,
        fabric,
        gpus,
        jobs,
        nodes,
        queues,
        storage,
    )

    of_gpus, of_efa = has_gpus(context), has_efa(context)
    if of_gpus:
        yield gpus.PAGE
    if of_efa:
        yield fabric.PAGE
    yield jobs.page(gpus=of_gpus, efa=of_efa)
    if "kueue" not in context.platform.without:
        yield queues.PAGE
    yield nodes.page(context.answers.node_watch())
    yield checkpoints.page(gpus=of_gpus, saving=any(saving(context)))
    yield storage.PAGE
    yield cost.page(monitoring_of(context).interval.seconds, gpus=of_gpus)
