"""Prometheus finds what there is to scrape, and reaches it."""

from __future__ import annotations

from typing import Any

from builders import plan_of, spec
from trainyard.eks.flux.plan import HelmRelease
from trainyard.eks.teams.plan import NetworkPolicy, Peer
from trainyard.extensions.observability.monitoring.names import RELEASE
from trainyard.extensions.observability.monitoring.plan import EfaExporter, Monitor, RuleGroups
from trainyard.run.lower import lower
from trainyard.verify.formats import lifted

from monitoring.observed import plan

PROMETHEUS = Peer(
    namespaces={"kubernetes.io/metadata.name": "monitoring"},
    pods={"app.kubernetes.io/name": "prometheus"},
)


def values(name: str) -> dict[str, Any]:
    (release,) = [release for release in plan().of(HelmRelease) if release.name == name]
    return dict(release.values)


def test_monitors_and_rules_have_the_label_that_prometheus_selects() -> None:
    """Both ways: by the release's label, which is the chart's default, and by any, which is what it is set to
    (kube-prometheus-stack 88.5.3, serviceMonitorSelectorNilUsesHelmValues)."""
    stack = values("kube-prometheus-stack")["prometheus"]["prometheusSpec"]
    for kind in ("podMonitor", "probe", "rule", "scrapeConfig", "serviceMonitor"):
        assert stack[f"{kind}SelectorNilUsesHelmValues"] is False
        assert f"{kind}Selector" not in stack
        assert f"{kind}NamespaceSelector" not in stack
    for each in (*plan().of(Monitor), *plan().of(RuleGroups)):
        assert each.labels == RELEASE
    assert values("dcgm-exporter")["serviceMonitor"]["additionalLabels"] == RELEASE


def test_prometheus_passes_the_policies_of_the_teams() -> None:
    policies = [policy for policy in plan().of(NetworkPolicy) if policy.namespace != "logging"]
    assert {policy.namespace for policy in policies} == {"team-a", "team-b"}
    for policy in policies:
        assert policy.ingress is not None
        (rule,) = [rule for rule in policy.ingress if PROMETHEUS in rule.peers]
        assert rule.ports == ()


def test_without_monitoring_nobody_more_reaches_the_pods_of_jobs() -> None:
    for policy in plan_of(spec()).of(NetworkPolicy):
        assert policy.ingress is not None
        assert len(policy.ingress) == 1


def test_no_monitor_looks_into_a_namespace_that_a_policy_closes() -> None:
    """Controllers are in namespaces of their own: a policy of ours there has to let Prometheus in, as that of logs
    does."""
    closed = {
        policy.namespace
        for policy in plan().of(NetworkPolicy)
        if not any(PROMETHEUS in rule.peers for rule in policy.ingress or ())
    } - {"logging"}
    assert not [
        name for monitor in plan().of(Monitor) for name in monitor.namespaces if name in closed
    ]


def test_controllers_that_a_cluster_has_are_scraped() -> None:
    names = {monitor.name for monitor in plan().of(Monitor)}
    assert names == {
        *("alloy", "checkpoint-exporter-team-a", "efa-exporter", "flux"),
        *("jobset", "karpenter", "kueue", "trainer"),
    }
    auto = plan_of(spec(monitoring={}, platform={"eks": {"autoMode": {}}}))
    assert "karpenter" not in {monitor.name for monitor in auto.of(Monitor)}


def test_monitors_are_read_back_as_they_were_written() -> None:
    read = lifted(lower(plan()), closed=True)
    for kind in (Monitor, RuleGroups, EfaExporter):
        written = {each.name: each for each in plan().of(kind)}
        back = {each.name: each for each in read.of(kind)}
        assert back == written
