"""What watching is paid for: by the metric, the alarm and the dashboard, whoever made it."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.catalog.prices import Price, service
from trainyard.core.pools.spec import NodePool
from trainyard.extensions.forecast.costs import ALWAYS, WITH_NODES, Item, monthly, prices_known
from trainyard.extensions.forecast.planned import PlannedCluster
from trainyard.extensions.parallelcluster.cluster.plan import SlurmCluster
from trainyard.extensions.parallelcluster.monitoring.plan import MEASURED, ClusterAlarms, GpuMetrics

_OF_AN_INSTANCE = 7
"""Metrics of detailed monitoring (infracost, instance_test.golden: EC2 detailed monitoring)."""
_OF_PARALLELCLUSTER = 5
"""Alarms of the head node (aws-parallelcluster 3.16.1, cluster_stack.py: _add_head_node_alarms), and one over them."""
_UNITS = (
    "CloudWatch metric month",
    "CloudWatch alarm month",
    "CloudWatch composite alarm month",
    "CloudWatch dashboard month",
)


def items(planned: PlannedCluster) -> Iterator[Item]:
    """Metrics are paid for by the hour in which they are sent, alarms and the dashboard always."""
    cluster, plan = planned.plan.one(SlurmCluster), planned.plan
    metric, alarm, over, board = (service(unit, planned.spec.region) for unit in _UNITS)
    for pool in planned.pools():
        metrics = 0
        instance = planned.catalog.instance_types[pool.instance_types[0]]
        if plan.one(GpuMetrics) is not None:
            metrics += len(MEASURED) * instance.gpus
        if cluster is not None and cluster.detailed_monitoring:
            metrics += _OF_AN_INSTANCE
        if metrics:
            what = f"{metrics} metrics of CloudWatch a node"
            yield _item(f"metrics of {pool.name}", what, metrics, metric, pool)
    alarms = plan.one(ClusterAlarms)
    count = _OF_PARALLELCLUSTER + (len(alarms.alarms) if alarms is not None else 0)
    yield _item("alarms", f"{count} alarms of CloudWatch", count, alarm)
    yield _item("alarm of the head node", "an alarm over its alarms", 1, over)
    yield _item("dashboard", "that of ParallelCluster in CloudWatch", 1, board)


def _item(
    name: str, what: str, units: int, price: Price | None, pool: NodePool | None = None
) -> Item:
    """So many units, of a pool for each of its nodes."""
    return Item(
        name=name,
        what=what,
        least=1 if pool is None else pool.nodes.min,
        most=1 if pool is None else pool.nodes.max,
        usd=monthly(units, price),
        how=ALWAYS if pool is None else WITH_NODES,
        prices=prices_known(price),
        pool="" if pool is None else pool.name,
    )
