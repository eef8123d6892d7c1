"""The step of ``up.sh`` that hands the workspace's id to Flux: AWS makes it up."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.bootstrap.step import Step
from trainyard.extensions.observability.managed_monitoring.names import CONFIG_MAP, WORKSPACE_ID
from trainyard.extensions.observability.managed_monitoring.plan import MetricsWorkspace
from trainyard.output.lowering.text import rendered
from trainyard.plan import Plan

_PACKAGE = "trainyard.extensions.observability.managed_monitoring"


def steps(plan: Plan) -> Iterator[Step]:
    """One, where AWS keeps the samples."""
    if plan.one(MetricsWorkspace) is None:
        return
    text = rendered(_PACKAGE, "workspace.sh.j2", map=CONFIG_MAP, key=WORKSPACE_ID)
    says = "the id of the workspace that keeps samples, which Flux fills in"
    yield Step("workspace", says, text)
