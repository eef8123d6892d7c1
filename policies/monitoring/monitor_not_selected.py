from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.flux.plan import HelmRelease
from trainyard.extensions.observability.monitoring.plan import Monitor, RuleGroups
from trainyard.judge.model.values import mapping
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.plan import Plan


@rule("HLT060", severity=Severity.WARNING)
def monitor_not_selected(plan: Plan, world: World) -> Iterator[Finding]:
    """A monitor or rule lacks the label by which the Prometheus of kube-prometheus-stack selects.

    The chart's Prometheus takes objects with the label `release` of its own release, unless a selector is given or
    `…SelectorNilUsesHelmValues` is false (kube-prometheus-stack 88.5.3, templates/prometheus/prometheus.yaml). Others
    are passed over: nothing is scraped, no alert fires, and no event says why. Whether the label has the right value
    is not judged.

    ## Fails

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: prometheus, namespace: flux-system}
        spec:
          chart: {spec: {chart: kube-prometheus-stack, version: 88.5.3}}
          values: {prometheus: {prometheusSpec: {storageSpec: {volumeClaimTemplate: {spec: {}}}}}}
        ---
        apiVersion: monitoring.coreos.com/v1
        kind: ServiceMonitor
        metadata: {name: trainer, namespace: monitoring}
        spec: {selector: {matchLabels: {app: trainer}}, endpoints: [{port: metrics}]}

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: prometheus, namespace: flux-system}
        spec:
          chart: {spec: {chart: kube-prometheus-stack, version: 88.5.3}}
          values: {prometheus: {prometheusSpec: {storageSpec: {volumeClaimTemplate: {spec: {}}}}}}
        ---
        apiVersion: monitoring.coreos.com/v1
        kind: PrometheusRule
        metadata: {name: steps, namespace: monitoring}
        spec: {groups: [{name: steps, rules: [{alert: Slow, expr: train_step_seconds > 5}]}]}

    ## Passes

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: prometheus, namespace: flux-system}
        spec:
          chart: {spec: {chart: kube-prometheus-stack, version: 88.5.3}}
          values: {prometheus: {prometheusSpec: {podMonitorSelectorNilUsesHelmValues: false}}}
        ---
        apiVersion: monitoring.coreos.com/v1
        kind: ServiceMonitor
        metadata: {name: trainer, namespace: monitoring, labels: {release: prometheus}}
        spec: {selector: {matchLabels: {app: trainer}}, endpoints: [{port: metrics}]}
        ---
        apiVersion: monitoring.coreos.com/v1
        kind: PodMonitor
        metadata: {name: workers, namespace: monitoring}
        spec: {selector: {matchLabels: {app: worker}}, podMetricsEndpoints: [{port: metrics}]}
    """
    stacks = tuple(world.releases("kube-prometheus-stack"))
    if not stacks:
        return
    objects: list[Monitor | RuleGroups] = [*plan.of(Monitor), *plan.of(RuleGroups)]
    for each in objects:
        if "release" in each.labels:
            continue
        kind, selector = _selected(each)
        if all(_asks_for_the_label(stack, selector) for stack in stacks):
            yield Finding(
                f"{kind} `{each.name}` is not selected by the Prometheus of release `{stacks[0].name}`",
                each.where("labels"),
                label="lacks the label `release`",
                help=f"label it `release: {stacks[0].name}`, or set "
                f"`prometheus.prometheusSpec.{selector}SelectorNilUsesHelmValues: false`",
            )


def _selected(each: Monitor | RuleGroups) -> tuple[str, str]:
    """What an object is, and what the chart's values call it."""
    if isinstance(each, RuleGroups):
        return "the rules", "rule"
    if each.pods:
        return "the monitor of pods", "podMonitor"
    return "the monitor of Services", "serviceMonitor"


def _asks_for_the_label(stack: HelmRelease, selector: str) -> bool:
    if "values" in stack.unread:
        return False
    spec = mapping(stack.values, "prometheus", "prometheusSpec")
    is_given = bool(spec.get(f"{selector}Selector"))
    return not is_given and spec.get(f"{selector}SelectorNilUsesHelmValues", True) is True
