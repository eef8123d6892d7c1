"""The script that makes the nodes: what it says."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.context import Context
from compiler.core.delivery.folder import folder
from compiler.plan import PlanNode
from compiler.platforms.hyperpod.bootstrap.plan import HyperPodBootstrap
from compiler.platforms.hyperpod.groups.names import lifecycle_prefix, scripts_bucket
from compiler.platforms.hyperpod.jobs.kinds.hyperpod_pytorch_job import OPERATOR
from compiler.platforms.hyperpod.jobs.wanted import operated
from compiler.platforms.hyperpod.settings.spec import AT, HyperPodSection


def resolve(context: Context) -> Iterator[PlanNode]:
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
