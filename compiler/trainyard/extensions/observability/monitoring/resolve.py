"""Monitoring: what is scraped, the rules over it, and the stage that carries them."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.catalog.ebs import refusals
from trainyard.eks.flux.accounts import deliverer, may_make, may_read
from trainyard.eks.flux.stages import stage
from trainyard.eks.settings.volumes import encrypted_class
from trainyard.eks.teams.resolve import privileged_namespace
from trainyard.extensions.observability.monitoring.alerts import rule_groups
from trainyard.extensions.observability.monitoring.names import (
    CLASS,
    EFA_CPU,
    EFA_EXPORTER,
    EFA_MEMORY,
    has_efa,
    is_managed,
    is_wanted,
    key_route,
    monitoring_of,
    namespace,
    type_labels,
)
from trainyard.extensions.observability.monitoring.plan import EfaExporter, MonitoringSize
from trainyard.extensions.observability.monitoring.sizing import Size, size
from trainyard.extensions.observability.monitoring.sources import exporter_monitor, monitors
from trainyard.extensions.observability.monitoring.spec import Monitoring
from trainyard.plan import PlanItem
from trainyard.plan.context import Context

_STAGE = "monitoring"
_GIB = 2**30
_RIGHTS = (
    may_make("", "configmaps"),
    may_make("apps", "daemonsets"),
    may_make("monitoring.coreos.com", "podmonitors", "prometheusrules", "servicemonitors"),
    may_read("", "pods"),
)
EFA_PORT = 9810
"""That of AWS' own exporter."""


def resolve(context: Context) -> Iterator[PlanItem]:
    """Nothing where the spec does not ask for it."""
    if not is_wanted(context):
        return
    monitoring = monitoring_of(context)
    # node-exporter has hostNetwork and hostPID (kube-prometheus-stack 88.5.3).
    yield privileged_namespace(context, namespace(context), key_route())
    if not is_managed(context):
        needed = size(context, monitoring)
        _check_disk(context, monitoring, needed)
        yield _size(context, monitoring, needed)

        yield from rule_groups(context)
    yield encrypted_class(context, CLASS, key_route())
    yield from monitors(context)
    if has_efa(context):
        yield from _efa(context)
    yield stage(context, _STAGE, "platform", account=_STAGE)
    yield from deliverer(_STAGE, *_RIGHTS)


def _check_disk(context: Context, monitoring: Monitoring, needed: Size) -> None:
    """A disk that is full before the retention is over: Prometheus then deletes samples that it was to keep."""
    disk = monitoring.disk
    what = f"{monitoring.retention} of {needed.total} series need {needed.disk} of disk"
    if disk is None:
        for refusal in refusals(needed.disk.value // _GIB, None, None):
            context.fault(
                "RES330",
                f"{what}, and {refusal.what}",
                key_route() / "retention",
                "write a shorter `retention`, or a longer `interval`",
                source=refusal.source,
            )
        return
    for refusal in refusals(disk.value // _GIB, None, None):
        context.fault(
            "RES180", refusal.what, key_route() / "disk", refusal.help, source=refusal.source
        )
    if disk.value < needed.disk.value:
        context.fault(
            "RES330",
            f"{what}, and `disk` is {disk}",
            key_route() / "disk",
            f"write `{needed.disk}`, a shorter `retention`, or remove it: it is derived",
            source="Prometheus, storage, operational aspects: 1 to 2 bytes a sample",
        )


def _size(context: Context, monitoring: Monitoring, needed: Size) -> MonitoringSize:
    reason = f"{needed.total} series, each {monitoring.interval}; the report has the sum"
    source = "Prometheus, storage, operational aspects"
    disk = context.settle(
        "monitoring",
        "disk",
        monitoring.disk,
        needed.disk,
        f"{reason}, kept for {monitoring.retention}",
        source,
        at=key_route() / "disk",
    )
    context.derive("monitoring", "memory", needed.memory, reason, "set by Trainyard")
    return MonitoringSize(
        at=key_route(),
        series=needed.series,
        reasons=needed.reasons,
        memory=needed.memory,
        cpu=needed.cpu,
        disk=disk,
        needed=needed.disk,
        retention=str(monitoring.retention),
        interval=str(monitoring.interval),
    )


def _efa(context: Context) -> Iterator[PlanItem]:
    """On nodes of any type that has EFA: the list follows from the catalog, so no pool that comes changes it."""
    yield EfaExporter(
        at=key_route(),
        name=EFA_EXPORTER,
        namespace=namespace(context),
        image=context.release.image(EFA_EXPORTER),
        port=EFA_PORT,
        instance_types=type_labels(context, context.catalog.efa_types),
        cpu=EFA_CPU,
        memory=EFA_MEMORY,
    )
    yield exporter_monitor(context, EFA_EXPORTER, EFA_EXPORTER, "metrics")
