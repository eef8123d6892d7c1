"""Whether a spec has its GPUs measured, and by what script of nodes."""

from __future__ import annotations

from trainyard.core.pools.pools import Pool
from trainyard.extensions.parallelcluster.monitoring.spec import Monitoring, MonitoringSection
from trainyard.plan.context import SPEC, Context

AT = SPEC / "monitoring"
SCRIPT = "gpu-metrics"
"""The script that starts the measurement, by its name in the bucket of scripts."""


def monitoring_of(context: Context) -> Monitoring | None:
    """What the spec says of it."""
    return MonitoringSection.of(context.spec).monitoring


def scripts_of(context: Context, pool: Pool) -> tuple[str, ...]:
    """What nodes of a pool run to be measured: those with GPUs of NVIDIA, where the spec wants it."""
    return (SCRIPT,) if pool.instance.gpus and monitoring_of(context) is not None else ()
