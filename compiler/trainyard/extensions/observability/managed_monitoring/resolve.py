"""Managed monitoring: workspaces and rules, and keys that the services of AWS cannot do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.catalog import iam
from trainyard.core.notifications.spec import Receiver, Sns
from trainyard.core.notifications.uses import notifications_of
from trainyard.eks.flux.stages import FLUX
from trainyard.extensions.observability.managed_monitoring import facts
from trainyard.extensions.observability.managed_monitoring.names import (
    ACCOUNT,
    CONFIG_MAP,
    key_route,
)
from trainyard.extensions.observability.managed_monitoring.plan import (
    GrafanaWorkspace,
    MetricsWorkspace,
    SampleVolume,
)
from trainyard.extensions.observability.monitoring import names as monitoring
from trainyard.extensions.observability.monitoring.alerts import rule_groups
from trainyard.extensions.observability.monitoring.sizing import size
from trainyard.extensions.observability.monitoring.spec import ManagedGrafana
from trainyard.extensions.observability.notifications import names as notifications
from trainyard.extensions.observability.notifications.alertmanager import configuration, routed
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.places import Route
from trainyard.plan import PlanItem
from trainyard.plan.context import Context

# Whom the Alertmanager of AWS tells: standard topics of SNS in its own account, and nothing else.

_SOURCE = "Amazon Managed Service for Prometheus user guide, AMP-alertmanager-receiver-config"
_INSTEAD = {
    "slack": "write `sns:` with a topic, to which Amazon Q Developer in chat applications subscribes the channel",
    "pagerDuty": "write `sns:` with a topic, to which a Lambda function subscribes that calls PagerDuty",
    "webhook": "write `sns:` with a topic, to which the URL subscribes",
}


def alertmanager(context: Context) -> Mapping[str, Any] | None:
    """The configuration of Alertmanager, where alerts are sent to somebody whom it can tell."""
    said = notifications_of(context)
    if said is None or said.default is None:
        return None

    used = routed(said)
    for index, receiver in enumerate(said.receivers):
        if receiver in used:
            _check(context, receiver, notifications.key_route() / "receivers" / index)
    if any(receiver.sns is None for receiver in used):
        return None
    return configuration(context.name, said)


def _check(context: Context, receiver: Receiver, place: Route) -> None:
    if receiver.sns is not None:
        _check_topic(context, receiver.sns, place / "sns")
        return
    kind = _kind(receiver)
    context.fault(
        "RES358",
        f"Amazon Managed Service for Prometheus sends alerts to topics of SNS, and receiver `{receiver.name}` is "
        f"`{kind}`",
        place / kind,
        _INSTEAD[kind],
        key=True,
        source=_SOURCE,
    )


def _kind(receiver: Receiver) -> str:
    """The key of a receiver that is no topic."""
    if receiver.slack is not None:
        return "slack"
    if receiver.pager_duty is not None:
        return "pagerDuty"
    return "webhook"


def _check_topic(context: Context, sns: Sns, place: Route) -> None:
    _, partition, _, _, account, name = sns.topic_arn.split(":")
    if (partition, account) != (context.partition, context.spec.account):
        context.fault(
            "RES359",
            f"the topic is one of account {account} in `{partition}`, and alerts are sent to topics of "
            f"{context.spec.account} in `{context.partition}`",
            place / "topicArn",
            "take a topic of the cluster's account",
            source="Amazon Managed Service for Prometheus user guide, AMP-alert-manager",
        )
    elif name.endswith(".fifo"):
        context.fault(
            "RES359",
            f"`{name}` is a FIFO topic, and alerts are sent to standard topics",
            place / "topicArn",
            "take a standard topic",
            source=_SOURCE,
        )
    if sns.kms_key is not None:
        context.fault(
            "RES360",
            "`kmsKey` is for the role of the cluster's Alertmanager, and AWS publishes without it",
            place / "kmsKey",
            "remove it, and let `aps.amazonaws.com` use the key by the key's own policy: `kms:GenerateDataKey*` and "
            "`kms:Decrypt`",
            key=True,
            source="SNS developer guide, sns-key-management: event sources",
        )


_DAY = 24 * 3600
LONGEST = 1095
"""Days that samples are kept at most (AMP user guide, AMP-workspace-configuration)."""


def resolve(context: Context) -> Iterator[PlanItem]:
    """Nothing where the cluster's own Prometheus keeps the samples."""
    if not monitoring.is_managed(context):
        return

    managed = monitoring.monitoring_of(context).managed
    assert managed is not None, "monitoring is not managed"
    _check_region(context)
    _check_disk(context)
    days = _days(context)
    context.external.add(("v1", "ConfigMap", FLUX, CONFIG_MAP))
    namespace = monitoring.namespace(context)
    yield MetricsWorkspace(
        at=key_route(),
        cluster=context.name,
        namespace=namespace,
        service_account=ACCOUNT,
        trust=iam.pod_identity_trust(context.cluster_arn, namespace, ACCOUNT),
        days=days,
        rules=tuple(rule_groups(context)),
        alertmanager=alertmanager(context),
        tags=context.spec.tags,
        origins={
            "days": monitoring.key_route() / "retention",
            "alertmanager": notifications.key_route(),
        },
    )
    if managed.grafana is not None:
        yield _grafana(context, managed.grafana)
    yield _volume(context, days)


def _check_region(context: Context) -> None:
    region = context.spec.region
    prometheus = facts.prometheus()
    if region not in prometheus.regions:
        context.fault(
            "RES361",
            f"Amazon Managed Service for Prometheus is not in Region `{region}`",
            key_route(),
            "remove it: without `managed`, a Prometheus of the cluster keeps the samples",
            key=True,
            source=prometheus.source,
        )


def _check_disk(context: Context) -> None:
    if monitoring.monitoring_of(context).disk is not None:
        context.fault(
            "RES356",
            "AWS keeps the samples, and `disk` is the volume of a Prometheus that does",
            monitoring.key_route() / "disk",
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
            monitoring.key_route() / "retention",
            f"write `{hours}h`",
            source="CloudFormation template reference, AWS::APS::Workspace WorkspaceConfiguration; AMP user guide, "
            "AMP-workspace-configuration",
        )
    return days


def _grafana(context: Context, grafana: ManagedGrafana) -> GrafanaWorkspace:
    region = context.spec.region
    place = key_route() / "grafana"
    service = facts.grafana()
    if region not in service.regions:
        context.fault(
            "RES361",
            f"Amazon Managed Grafana is not in Region `{region}`",
            place,
            f"remove it, and show the workspace in a Grafana of another Region: it is in {listed(service.regions)}",
            key=True,
            source=service.source,
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
        at=key_route(),
        series=needed.total,
        interval=said.interval.seconds,
        days=days,
        memory=needed.memory,
        cpu=needed.cpu,
    )
