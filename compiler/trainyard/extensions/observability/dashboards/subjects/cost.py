"""What nodes, jobs and idle GPUs cost, on demand, as far as the catalog knows the price."""

from __future__ import annotations

from trainyard.extensions.observability.dashboards.page import Page
from trainyard.extensions.observability.dashboards.panels import DOLLARS, RANGE, graph, number, rows
from trainyard.extensions.observability.dashboards.plan import Panel
from trainyard.extensions.observability.monitoring.alerts.records import (
    GPU_DOLLARS,
    GPU_UTIL,
    IDLE_DOLLARS,
    NODE_DOLLARS,
    TYPE_DOLLARS,
)

_PRICES = "Prices on demand of the catalog: a Capacity Block, Spot or a discount costs another sum."
_JOB = "by (namespace, training_job)"
_OF_JOB = "{{namespace}} {{training_job}}"
_JOBS = (
    f"sum {_JOB} (({GPU_UTIL} >= bool 0) * on (node) group_left () max by (node) ({GPU_DOLLARS}))"
)
"""A GPU that a job has counts whether it is busy or not: the comparison is 1 for each."""


def _spent(series: str, interval: int) -> str:
    """The sum over the time shown of dollars an hour, with a sample each ``interval`` seconds."""
    return f"sum(sum_over_time({series}[{RANGE}])) * {interval} / 3600"


def page(interval: int, *, gpus: bool) -> Page:
    """``interval``: the seconds between two samples; ``gpus``: with what jobs cost, which goes by their GPUs."""
    nodes = [
        number("An hour, now", DOLLARS, f"sum({NODE_DOLLARS})", about=_PRICES),
        number("In the time shown", DOLLARS, _spent(NODE_DOLLARS, interval), about=_PRICES),
        graph("An hour, by pool", DOLLARS, f"sum by (nodepool) ({NODE_DOLLARS})", "{{nodepool}}"),
        graph(
            "An hour, by type",
            DOLLARS,
            f"sum by (instance_type) ({NODE_DOLLARS})",
            "{{instance_type}}",
        ),
        graph(
            "A node of a type, an hour",
            DOLLARS,
            f"max by (instance_type) ({TYPE_DOLLARS})",
            "{{instance_type}}",
        ),
    ]
    titled: dict[str, list[Panel]] = {"Nodes": nodes}
    if gpus:
        titled["Jobs"] = [
            number("Idle GPUs of jobs, an hour", DOLLARS, f"sum({IDLE_DOLLARS}) or vector(0)"),
            number("Idle GPUs of jobs, in the time shown", DOLLARS, _spent(IDLE_DOLLARS, interval)),
            graph("An hour, by job", DOLLARS, _JOBS, _OF_JOB),
            graph("Idle GPUs an hour, by job", DOLLARS, f"{IDLE_DOLLARS} > 0", _OF_JOB),
        ]
    return Page("cost", "Cost", (), rows(titled))
