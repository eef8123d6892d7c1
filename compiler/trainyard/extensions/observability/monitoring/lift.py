"""Lift: monitors and rules of the Prometheus operator, and the exporter of EFA."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.extensions.observability.monitoring.plan import (
    EfaExporter,
    Monitor,
    Rule,
    RuleGroups,
)
from trainyard.language.places import Route
from trainyard.lift.reader import Reader, labels_of, name_of, namespace_of
from trainyard.plan.base import PlanItem

_OURS = "app.kubernetes.io/managed-by"
_PROGRAM = "efa_exporter.py"


def service_monitor(body: Reader) -> Iterator[PlanItem]:
    """ServiceMonitor."""
    yield _monitor(body, body / "spec" / "endpoints", pods=False)


def pod_monitor(body: Reader) -> Iterator[PlanItem]:
    """PodMonitor."""
    yield _monitor(body, body / "spec" / "podMetricsEndpoints", pods=True)


def _monitor(body: Reader, endpoints: Reader, *, pods: bool) -> Monitor:
    """A monitor by its first endpoint."""
    spec = body / "spec"
    first = (endpoints.items() or [endpoints / 0])[0]
    relabelings = first / "metricRelabelings"
    return Monitor(
        at=body.at,
        name=name_of(body),
        namespace=namespace_of(body),
        pods=pods,
        namespaces=(spec / "namespaceSelector" / "matchNames").texts(),
        selector=(spec / "selector" / "matchLabels").strings(),
        port=(first / "port").word(),
        interval=(first / "interval").word(),
        secure=(first / "scheme").value in ("https", "HTTPS"),
        kept=_kept(relabelings),
        labels=_labels(body),
        origins={
            "labels": (body / "metadata" / "labels").at,
            "port": (first / "port").at,
            "selector": (spec / "selector").at,
            "kept": relabelings.at,
        },
    )


def _kept(relabelings: Reader) -> tuple[str, ...]:
    """The names that a relabelling keeps, where it lists them."""
    for each in relabelings.items():
        if (each / "action").value == "keep" and (each / "sourceLabels").texts() == ("__name__",):
            return tuple((each / "regex").word().split("|"))
    return ()


def _labels(body: Reader) -> dict[str, str]:
    return {key: value for key, value in labels_of(body).items() if key != _OURS}


def prometheus_rule(body: Reader) -> Iterator[PlanItem]:
    """PrometheusRule, with the place of each rule."""
    groups: dict[str, tuple[Rule, ...]] = {}
    origins: dict[str, Route] = {"labels": (body / "metadata" / "labels").at}
    for group in (body / "spec" / "groups").items():
        name = (group / "name").word()
        rules = []
        for index, each in enumerate((group / "rules").items()):
            rules.append(_rule(each))
            origins[f"groups.{name}.{index}"] = (each / "expr").at
        groups[name] = tuple(rules)
    yield RuleGroups(
        at=body.at,
        name=name_of(body),
        namespace=namespace_of(body),
        groups=groups,
        labels=_labels(body),
        origins=origins,
    )


def _rule(body: Reader) -> Rule:
    record = (body / "record").text()
    expr = body / "expr"
    number = expr.integer()
    return Rule(
        name=record or (body / "alert").word(),
        expr=str(number) if number is not None else expr.word(),
        record=record is not None,
        wait=(body / "for").word(),
        labels=(body / "labels").strings(),
        annotations=(body / "annotations").strings(),
    )


def daemon_set(body: Reader) -> Iterator[PlanItem]:
    """The exporter of EFA, by its program."""
    spec = body.follow("spec", "template", "spec")
    for container in (spec / "containers").items():
        command = (container / "command").texts()
        if any(word.endswith(_PROGRAM) for word in command):
            yield _exporter(body, spec, container)


def _exporter(body: Reader, spec: Reader, container: Reader) -> EfaExporter:
    terms = spec.follow(
        "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"
    )
    types = terms.follow("nodeSelectorTerms", 0, "matchExpressions", 0, "values")
    requests = container.follow("resources", "requests")
    cpu, memory = (requests / "cpu").quantity(), (requests / "memory").quantity()
    return EfaExporter(
        at=body.at,
        name=name_of(body),
        namespace=namespace_of(body),
        image=(container / "image").word(),
        port=container.follow("ports", 0, "containerPort").integer() or 0,
        instance_types=types.texts(),
        cpu=cpu.milli if cpu is not None else 0,
        memory=memory.value // 2**20 if memory is not None else 0,
    )


KINDS = {
    "monitoring.coreos.com/ServiceMonitor": service_monitor,
    "monitoring.coreos.com/PodMonitor": pod_monitor,
    "monitoring.coreos.com/PrometheusRule": prometheus_rule,
    "apps/DaemonSet": daemon_set,
}
