"""Monitoring: the GPUs that are measured, the alarms, and who hears of them."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.notifications.uses import AT as NOTIFICATIONS
from trainyard.core.notifications.uses import notifications_of
from trainyard.core.pools.pools import resolve_pools
from trainyard.extensions.parallelcluster.monitoring import alarms
from trainyard.extensions.parallelcluster.monitoring.metrics import AT, monitoring_of
from trainyard.extensions.parallelcluster.monitoring.plan import ClusterAlarms, GpuMetrics
from trainyard.plan import PlanItem
from trainyard.plan.context import Context


def resolve(context: Context) -> Iterator[PlanItem]:
    """Nothing where the spec does not want it."""
    monitoring = monitoring_of(context)
    if monitoring is None:
        return
    has_gpus = any(pool.instance.gpus for pool in context.once(resolve_pools).values())
    if has_gpus:
        yield GpuMetrics(at=AT, cluster=context.name, seconds=monitoring.interval.seconds)
    yield ClusterAlarms(
        at=AT,
        cluster=context.name,
        alarms=(*alarms.HEAD, *alarms.NODES, *(alarms.GPUS if has_gpus else ())),
        topics=_topics(context),
        tags=dict(context.spec.tags),
    )


def _topics(context: Context) -> tuple[str, ...]:
    """Those of `default` and of `critical`: the head node and nodes are no team's."""
    notifications = notifications_of(context)
    if notifications is None:
        context.doubt(
            "RES502",
            "alarms of the head node and of nodes are made, and nobody hears of them",
            AT,
            "add `notifications` with a topic under `default`",
        )
        return ()
    topics = []
    for index, receiver in enumerate(notifications.receivers):
        if receiver.sns is None or receiver.name not in (
            notifications.default,
            notifications.critical,
        ):
            continue
        topic = receiver.sns.topic_arn
        topics.append(topic)
        _check_region(context, topic, index)
    return tuple(dict.fromkeys(topics))


def _check_region(context: Context, topic: str, index: int) -> None:
    _, partition, _, region, _ = topic.split(":", 4)
    if partition == context.partition and region != context.spec.region:
        context.fault(
            "RES501",
            f"the topic is in `{region}`, and alarms of `{context.spec.region}` reach topics of their own Region alone",
            NOTIFICATIONS / "receivers" / index / "sns" / "topicArn",
            f"take a topic of `{context.spec.region}`, or remove `monitoring`",
            source="CloudWatch API, PutMetricAlarm: AlarmActions of another Region are refused",
        )
