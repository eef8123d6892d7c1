"""Managed monitoring: workspaces, rules and receivers, and keys that the services of AWS cannot do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from compiler.catalog import iam
from compiler.catalog.managed_grafana import grafana_regions, grafana_source
from compiler.context import Context
from compiler.diagnostics.diagnostic import listed
from compiler.places import Route
from compiler.plan import PlanNode
from compiler.platforms.eks.flux.stages import FLUX
from compiler.platforms.eks.managed_monitoring.plan import (
    GrafanaWorkspace,
    MetricsWorkspace,
    SampleVolume,
)
from compiler.platforms.eks.managed_monitoring.stack import ACCOUNT, CONFIG_MAP, at
from compiler.platforms.eks.monitoring import stack as monitoring
from compiler.platforms.eks.monitoring.alerts import rule_groups
from compiler.platforms.eks.monitoring.sizing import size
from compiler.platforms.eks.notifications import stack as notifications

if TYPE_CHECKING:
    from compiler.platforms.eks.monitoring.forms.monitoring import ManagedGrafana
    from compiler.platforms.eks.notifications.forms.notifications import Notifications, Receiver

_DAY = 24 * 3600
LONGEST = 1095
"""Days that samples are kept at most (AMP user guide, AMP-workspace-configuration)."""
_RECEIVERS = "Amazon Managed Service for Prometheus user guide, AMP-alertmanager-receiver-config"
_INSTEAD = {
    "slack": "write `sns:` with a topic, to which Amazon Q Developer in chat applications subscribes the channel",
    "pagerDuty": "write `sns:` with a topic, to which a Lambda function subscribes that calls PagerDuty",
    "webhook": "write `sns:` with a topic, to which the URL subscribes",
}


def resolve(context: Context) -> Iterator[PlanNode]:
    """Nothing where the cluster's own Prometheus keeps the samples."""
    if not monitoring.is_managed(context):
        return
    managed = monitoring.monitoring_of(context).managed
    assert managed is not None, "monitoring is not managed"
    _check_disk(context)
    days = _days(context)
    context.external.add(("v1", "ConfigMap", FLUX, CONFIG_MAP))
    namespace = monitoring.namespace(context)
    yield MetricsWorkspace(
        at=at(),
        cluster=context.name,
        namespace=namespace,
        service_account=ACCOUNT,
        trust=iam.pod_identity_trust(context.cluster_arn, namespace, ACCOUNT),
        days=days,
        rules=tuple(rule_groups(context)),
        alertmanager=_alertmanager(context),
        tags=context.spec.tags,
        origins={"days": monitoring.at() / "retention", "alertmanager": notifications.at()},
    )
    if managed.grafana is not None:
        yield _grafana(context, managed.grafana)
    yield _volume(context, days)


def _check_disk(context: Context) -> None:
    if monitoring.monitoring_of(context).disk is not None:
        context.fault(
            "RES356",
            "AWS keeps the samples, and `disk` is the volume of a Prometheus that does",
            monitoring.at() / "disk",
            "remove it: `retention` says how long samples are kept",
            key=True,
        )


def _days(context: Context) -> int:
    """How long samples are kept, in days."""
    retention = monitoring.monitoring_of(context).retention
    days = -(-retention.seconds // _DAY)
    if retention.seconds % _DAY or days > LONGEST:
        hours = min(days, LONGEST) * 24
        context.fault(
            "RES357",
            f"Amazon Managed Service for Prometheus keeps samples for whole days, {LONGEST} at most, and "
            f"`retention` is {retention}",
            monitoring.at() / "retention",
            f"write `{hours}h`",
            source="CloudFormation template reference, AWS::APS::Workspace WorkspaceConfiguration; AMP user guide, "
            "AMP-workspace-configuration",
        )
    return days


def _alertmanager(context: Context) -> Mapping[str, Any] | None:
    """The configuration of Alertmanager, where alerts are sent to somebody."""
    said = notifications.notifications_of(context)
    if said is None or said.default is None:
        return None
    from compiler.platforms.eks.notifications import alertmanager

    routed = alertmanager.routed(said)
    for index, receiver in enumerate(said.receivers):
        if receiver in routed:
            _check_receiver(context, receiver, notifications.at() / "receivers" / index)
    if _has_topics_alone(said):
        return alertmanager.configuration(context.name, said)
    return None


def _has_topics_alone(said: Notifications) -> bool:
    from compiler.platforms.eks.notifications import alertmanager

    return all(receiver.sns is not None for receiver in alertmanager.routed(said))


def _check_receiver(context: Context, receiver: Receiver, place: Route) -> None:
    """Alertmanager of AWS sends to standard topics of its own account."""
    sns = receiver.sns
    if sns is None:
        (kind,) = receiver.model_fields_set - {"name"}
        key = _KEYS.get(kind, kind)
        context.fault(
            "RES358",
            f"Amazon Managed Service for Prometheus sends alerts to topics of SNS, and receiver `{receiver.name}` is "
            f"`{key}`",
            place / key,
            _INSTEAD[key],
            key=True,
            source=_RECEIVERS,
        )
        return
    _, partition, _, _, account, name = sns.topic_arn.split(":")
    if (partition, account) != (context.partition, context.spec.account):
        context.fault(
            "RES359",
            f"the topic is one of account {account} in `{partition}`, and alerts are sent to topics of "
            f"{context.spec.account} in `{context.partition}`",
            place / "sns" / "topicArn",
            "take a topic of the cluster's account",
            source="Amazon Managed Service for Prometheus user guide, AMP-alert-manager",
        )
    elif name.endswith(".fifo"):
        context.fault(
            "RES359",
            f"`{name}` is a FIFO topic, and alerts are sent to standard topics",
            place / "sns" / "topicArn",
            "take a standard topic",
            source=_RECEIVERS,
        )
    if sns.kms_key is not None:
        context.fault(
            "RES360",
            "`kmsKey` is for the role of the cluster's Alertmanager, and AWS publishes without it",
            place / "sns" / "kmsKey",
            "remove it, and let `aps.amazonaws.com` use the key by the key's own policy: `kms:GenerateDataKey*` and "
            "`kms:Decrypt`",
            key=True,
            source="SNS developer guide, sns-key-management: event sources",
        )


_KEYS = {"pager_duty": "pagerDuty"}


def _grafana(context: Context, grafana: ManagedGrafana) -> GrafanaWorkspace:
    region = context.spec.region
    place = at() / "grafana"
    regions = grafana_regions()
    if region not in regions:
        context.fault(
            "RES361",
            f"Amazon Managed Grafana is not in Region `{region}`",
            place,
            f"remove it, and show the workspace in a Grafana of another Region: it is in {listed(regions)}",
            key=True,
            source=grafana_source(),
        )
    return GrafanaWorkspace(
        at=place,
        cluster=context.name,
        partition=context.partition,
        account=context.spec.account,
        region=region,
        authentication=tuple(grafana.authentication_providers),
    )


def _volume(context: Context, days: int) -> SampleVolume:
    said = monitoring.monitoring_of(context)
    needed = size(context, said)
    context.derive(
        "monitoring",
        "memory",
        needed.memory,
        f"{needed.total} series, each {said.interval}, which Prometheus sends and does not keep",
        "set by Trainyard",
    )
    return SampleVolume(
        at=at(),
        series=needed.total,
        interval=said.interval.seconds,
        days=days,
        memory=needed.memory,
        cpu=needed.cpu,
    )
