"""What watching is paid for: by the metric, the alarm and the dashboard, whoever made it."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.catalog.prices import service
from trainyard.core.costs import ALWAYS, WITH_NODES, Item, known, monthly
from trainyard.core.planned import PlannedCluster
from trainyard.extensions.parallelcluster.cluster.plan import SlurmCluster
from trainyard.extensions.parallelcluster.monitoring.plan import MEASURED, ClusterAlarms, GpuMetrics

_OF_AN_INSTANCE = 7
"""Metrics of detailed monitoring (infracost, instance_test.golden: EC2 detailed monitoring)."""
_OF_PARALLELCLUSTER = 5
"""Alarms of the head node (aws-parallelcluster 3.16.1, cluster_stack.py: _add_head_node_alarms), and one over them."""
_METRIC, _ALARM = "CloudWatch metric month", "CloudWatch alarm month"


def items(planned: PlannedCluster) -> Iterator[Item]:
    """Metrics are paid for by the hour in which they are sent, alarms and the dashboard always."""
    cluster, plan = planned.plan.one(SlurmCluster), planned.plan
    for pool in planned.pools():
        metrics = 0
        instance = planned.catalog.instance_types[pool.instance_types[0]]
        if plan.one(GpuMetrics) is not None:
            metrics += len(MEASURED) * instance.gpus
        if cluster is not None and cluster.detailed_monitoring:
            metrics += _OF_AN_INSTANCE
        if metrics:
            what = f"{metrics} metrics of CloudWatch a node"
            least, most = pool.nodes.min, pool.nodes.max
            yield _item(
                planned, f"metrics of {pool.name}", what, least, most, metrics, _METRIC, pool.name
            )
    alarms = plan.one(ClusterAlarms)
    count = _OF_PARALLELCLUSTER + (len(alarms.alarms) if alarms is not None else 0)
    yield _item(planned, "alarms", f"{count} alarms of CloudWatch", 1, 1, count, _ALARM)
    over, board = "CloudWatch composite alarm month", "CloudWatch dashboard month"
    yield _item(planned, "alarm of the head node", "an alarm over its alarms", 1, 1, 1, over)
    yield _item(planned, "dashboard", "that of ParallelCluster in CloudWatch", 1, 1, 1, board)


def _item(
    planned: PlannedCluster,
    name: str,
    what: str,
    least: int,
    most: int,
    units: int,
    unit: str,
    pool: str = "",
) -> Item:
    price = service(unit, planned.spec.region)
    return Item(
        name=name,
        what=what,
        least=least,
        most=most,
        usd=monthly(units, price),
        how=WITH_NODES if pool else ALWAYS,
        prices=known(price),
        pool=pool,
    )
