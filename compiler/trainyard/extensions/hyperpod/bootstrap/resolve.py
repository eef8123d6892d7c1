"""The script that makes the nodes: what it says."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.delivery.folder import folder
from trainyard.extensions.hyperpod.bootstrap.plan import HyperPodBootstrap
from trainyard.extensions.hyperpod.groups.names import lifecycle_prefix, scripts_bucket
from trainyard.extensions.hyperpod.jobs.kinds.hyperpod_pytorch_job import OPERATOR
from trainyard.extensions.hyperpod.jobs.wanted import operated
from trainyard.extensions.hyperpod.settings.spec import AT, HyperPodSection
from trainyard.plan import PlanItem
from trainyard.plan.context import Context


def resolve(context: Context) -> Iterator[PlanItem]:
    """The script and the page."""
    yield HyperPodBootstrap(
        at=AT,
        cluster=context.name,
        region=context.spec.region,
        partition=context.partition,
        account=context.spec.account,
        path=folder(context),
        scripts=lifecycle_prefix(context),
        bucket=scripts_bucket(context),
        governed=HyperPodSection.of(context.spec).own.task_governance is not None,
        operator=OPERATOR if operated(context.spec) else "",
    )
