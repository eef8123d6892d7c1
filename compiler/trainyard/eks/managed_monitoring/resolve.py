"""Managed monitoring: workspaces and rules, and keys that the services of AWS cannot do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from trainyard.catalog import iam, managed_monitoring
from trainyard.eks.flux.stages import FLUX
from trainyard.eks.managed_monitoring.plan import GrafanaWorkspace, MetricsWorkspace, SampleVolume
from trainyard.eks.managed_monitoring.receivers import alertmanager
from trainyard.eks.managed_monitoring.stack import ACCOUNT, CONFIG_MAP, at
from trainyard.eks.monitoring import stack as monitoring
from trainyard.eks.monitoring.sizing import size
from trainyard.eks.notifications import stack as notifications
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.plan import PlanNode
from trainyard.plan.context import Context

if TYPE_CHECKING:
    from trainyard.eks.monitoring.spec import ManagedGrafana

_DAY = 24 * 3600
LONGEST = 1095
"""Days that samples are kept at most (AMP user guide, AMP-workspace-configuration)."""


def resolve(context: Context) -> Iterator[PlanNode]:
    """Nothing where the cluster's own Prometheus keeps the samples."""
    if not monitoring.is_managed(context):
        return
    # Most clusters have no managed monitoring, and no use for the texts of alerts.
    from trainyard.eks.monitoring.alerts import rule_groups

    managed = monitoring.monitoring_of(context).managed
    assert managed is not None, "monitoring is not managed"
    _check_region(context)
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
        alertmanager=alertmanager(context),
        tags=context.spec.tags,
        origins={"days": monitoring.at() / "retention", "alertmanager": notifications.at()},
    )
    if managed.grafana is not None:
        yield _grafana(context, managed.grafana)
    yield _volume(context, days)


def _check_region(context: Context) -> None:
    region = context.spec.region
    prometheus = managed_monitoring.prometheus()
    if region not in prometheus.regions:
        context.fault(
            "RES361",
            f"Amazon Managed Service for Prometheus is not in Region `{region}`",
            at(),
            "remove it: without `managed`, a Prometheus of the cluster keeps the samples",
            key=True,
            source=prometheus.source,
        )


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


def _grafana(context: Context, grafana: ManagedGrafana) -> GrafanaWorkspace:
    region = context.spec.region
    place = at() / "grafana"
    service = managed_monitoring.grafana()
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
        at=at(),
        series=needed.total,
        interval=said.interval.seconds,
        days=days,
        memory=needed.memory,
        cpu=needed.cpu,
    )
