"""Alerts: a module a subject, each alert with its page; and what they are written as."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from trainyard.catalog.xid import XidTable
from trainyard.core.pools.spec import PoolsSection
from trainyard.eks.health.alert import CRITICAL, Alert
from trainyard.eks.health.watch import KARPENTER, NodeWatch
from trainyard.eks.jobs.pod_labels import pod_labels
from trainyard.eks.settings.spec import ClusterSection
from trainyard.extensions.observability.logs import names as logged
from trainyard.extensions.observability.monitoring.alerts import (
    capacity,
    checkpoints,
    control,
    fabric,
    gpus,
    jobs,
    logs,
    nodes,
    sending,
)
from trainyard.extensions.observability.monitoring.alerts.records import records
from trainyard.extensions.observability.monitoring.names import (
    RELEASE,
    has_efa,
    has_gpus,
    is_managed,
    key_route,
    monitoring_of,
    namespace,
    part_labels,
)
from trainyard.extensions.observability.monitoring.plan import Rule, RuleGroups
from trainyard.extensions.observability.monitoring.saving import saving
from trainyard.extensions.observability.monitoring.sizing import series_for, size
from trainyard.extensions.observability.monitoring.sources import sources
from trainyard.plan.context import Context

__all__ = ["every", "pages", "rule", "rule_groups"]


def every(context: Context) -> dict[str, tuple[Alert, ...]]:
    """The alerts of a cluster by subject, without those of single pools."""
    monitoring = monitoring_of(context)
    found: dict[str, tuple[Alert, ...]] = {}
    watch: NodeWatch = context.answers.node_watch()
    if has_gpus(context):
        found["gpus"] = gpus.alerts(context.catalog.xids, watch.replace)
    if has_efa(context):
        found["efa"] = fabric.alerts(watch.replace)
    found["jobs"] = jobs.alerts(monitoring.gpu_utilization, watch.missing)
    if "kueue" not in context.platform.without:
        found["jobs"] += jobs.of_queues(watch.missing)
    if any(saving(context)):
        found["checkpoints"] = checkpoints.ALERTS
    found["nodes"] = nodes.alerts(watch)
    if logged.is_wanted(context):
        found["logs"] = logs.ALERTS
    found["control"] = (*control.alerts(_controllers(context)), *_of_monitoring(context))
    return found


def rule(alert: Alert) -> Rule:
    """The rule of Prometheus."""
    return Rule(
        name=alert.name,
        expr=alert.expr,
        wait=alert.wait,
        labels={"severity": alert.severity, "owner": alert.owner},
        annotations={"summary": alert.summary, "description": alert.description},
    )


def _of_monitoring(context: Context) -> tuple[Alert, ...]:
    """Whether alerts are evaluated and sent at all, and as many samples kept as there are."""
    if is_managed(context):
        return (*sending.ALERTS, control.WATCHDOG)
    capacity_of = series_for(size(context, monitoring_of(context)).memory)
    return (*control.of_server(capacity_of), control.WATCHDOG)


def pages(xids: XidTable, *others: NodeWatch) -> dict[str, tuple[Alert, ...]]:
    """Every alert that any cluster has, by subject, for the runbooks: what it means and what to do are the same in all
    of them, but for how nodes are replaced, which is said for Karpenter. ``others``: what watches nodes elsewhere."""
    return {
        "gpus": gpus.alerts(xids, KARPENTER.replace),
        "efa": fabric.alerts(KARPENTER.replace),
        "jobs": (*jobs.alerts(50, KARPENTER.missing), *jobs.of_queues(KARPENTER.missing)),
        "checkpoints": checkpoints.ALERTS,
        "nodes": nodes.alerts(KARPENTER, *others),
        "logs": logs.ALERTS,
        "capacity": (
            capacity.block_ends("POOL", 0),
            capacity.reservation_unused("POOL", 1, "", "", CRITICAL),
        ),
        "control": (*control.alerts(()), *control.of_server(0), *sending.ALERTS, control.WATCHDOG),
    }


def _controllers(context: Context) -> tuple[str, ...]:
    """The namespaces of the controllers that are scraped, and of monitoring."""
    names = {
        source.namespace or context.release.chart(source.component).namespace
        for source in sources(context)
    }
    return tuple(sorted({*names, namespace(context)}))


def rule_groups(context: Context) -> Iterator[RuleGroups]:
    """A PrometheusRule a subject, and one a pool."""
    base = list(records(pod_labels(context), part_labels(context)))
    if ClusterSection.of(context.spec).auto_mode is None:
        system = ClusterSection.of(context.spec).eks.system_nodes.instance_type
        base += capacity.price_of_system(context, system)
    yield _groups(context, "records", {"trainyard-records": base})
    for subject, listed in every(context).items():
        yield _groups(context, subject, {f"trainyard-{subject}": [rule(alert) for alert in listed]})
    for pool in PoolsSection.of(context.spec).node_pools:
        rules = list(capacity.prices_of_pool(context, pool))
        rules += [rule(alert) for alert in capacity.alerts(context, pool)]
        if rules:
            groups = {f"trainyard-pool-{pool.name}": rules}
            yield _groups(context, f"pool-{pool.name}", groups)


def _groups(context: Context, name: str, groups: Mapping[str, Iterable[Rule]]) -> RuleGroups:
    return RuleGroups(
        at=key_route(),
        name=f"trainyard-{name}",
        namespace=namespace(context),
        groups={group: tuple(rules) for group, rules in groups.items()},
        labels=RELEASE,
    )
