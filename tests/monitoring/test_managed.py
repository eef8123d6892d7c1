"""Monitoring by AWS: what its services are sent, what they evaluate, and what stays in the cluster."""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from builders import ROOT, files, objects_of, plan_of, spec
from running import Command
from trainyard.eks.flux.plan import HelmRelease
from trainyard.eks.secrets.plan import AwaitedSecret
from trainyard.extensions.observability.managed_monitoring.plan import (
    MetricsWorkspace,
    SampleVolume,
)
from trainyard.extensions.observability.monitoring.plan import MonitoringSize, RuleGroups
from trainyard.extensions.observability.notifications.plan import TopicPublisher
from trainyard.extensions.observability.released_exporters import metrics
from trainyard.plan import Plan
from trainyard.run.driver import check
from trainyard.run.outcome import Compilation, Options

from monitoring.observed import plan as in_the_cluster

SPEC = ROOT / "tests" / "scenarios" / "observed-by-aws.yaml"
PROMTOOL, AMTOOL = shutil.which("promtool"), shutil.which("amtool")
OF_A_SERVER = {
    "PrometheusTooManySeries",
    "PrometheusRuleFails",
    "PrometheusAlertsLost",
    "AlertmanagerFails",
}
OF_AN_AGENT = {"SamplesStayAway", "SamplesRefused"}


@cache
def compilation() -> Compilation:
    (done,) = check([SPEC], Options()).compilations
    return done


def plan() -> Plan:
    found = compilation().plan
    assert found is not None, compilation().diagnostics
    return found


@cache
def resources() -> dict[str, Any]:
    found: dict[str, Any] = files(plan())["bootstrap/stacks/monitoring.yaml"]["Resources"]
    return found


def rules() -> dict[str, list[dict[str, Any]]]:
    """The rules that AWS evaluates, by the name of their namespace."""
    found = {}
    for resource in resources().values():
        if resource["Type"] == "AWS::APS::RuleGroupsNamespace":
            (group,) = yaml.safe_load(resource["Properties"]["Data"])["groups"]
            found[resource["Properties"]["Name"]] = group["rules"]
    return found


def names(found: dict[str, list[dict[str, Any]]]) -> set[str]:
    return {rule["alert"] for listed in found.values() for rule in listed if "alert" in rule}


def release() -> HelmRelease:
    (found,) = [each for each in plan().of(HelmRelease) if each.name == "kube-prometheus-stack"]
    return found


def test_without_the_key_nothing_is_made() -> None:
    other = plan_of(spec(monitoring={}))
    assert other.one(MetricsWorkspace) is None
    assert "bootstrap/stacks/monitoring.yaml" not in files(other)
    assert "step_workspace" not in text(other, "bootstrap/up.sh")


def text(some: Plan, path: str) -> str:
    return str(files(some)[path])


def test_aws_evaluates_the_rules_that_the_cluster_would() -> None:
    """But those on what only a Prometheus that keeps samples says of itself."""
    here = {
        rule.name
        for groups in in_the_cluster().of(RuleGroups)
        for listed in groups.groups.values()
        for rule in listed
        if not rule.record
    }
    logs = {"LogsNotTaken", "LogsDropped"}  # the other cluster has them
    assert names(rules()) == here - OF_A_SERVER - logs | OF_AN_AGENT
    assert not plan().of(RuleGroups)


def test_rules_name_metrics_that_are_sent() -> None:
    asked = " ".join(rule["expr"] for listed in rules().values() for rule in listed)
    of_prometheus = set(re.findall(r"\bprometheus_\w+", asked))
    assert of_prometheus == {name for name in metrics() if name.startswith("prometheus_remote_")}
    assert "alertmanager_" not in asked


@pytest.mark.slow
@pytest.mark.skipif(PROMTOOL is None, reason="promtool is missing: apt-get install prometheus")
def test_promtool_accepts_each_namespace(tmp_path: Path) -> None:
    for name, listed in rules().items():
        path = tmp_path / f"{name}.yaml"
        path.write_text(yaml.safe_dump({"groups": [{"name": name, "rules": listed}]}))
        done = subprocess.run(
            [str(PROMTOOL), "check", "rules", str(path)], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.skipif(
    AMTOOL is None, reason="amtool is missing: apt-get install prometheus-alertmanager"
)
def test_amtool_accepts_the_definition_of_alertmanager(tmp_path: Path) -> None:
    definition = resources()["Workspace"]["Properties"]["AlertManagerDefinition"]
    whole = yaml.safe_load(definition)
    assert set(whole) == {"alertmanager_config"}
    path = tmp_path / "alertmanager.yaml"
    path.write_text(whole["alertmanager_config"])
    done = subprocess.run([str(AMTOOL), "check-config", str(path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_prometheus_sends_to_the_workspace_whose_id_flux_fills_in() -> None:
    values, (awaited,) = release().values, release().awaited
    assert values["prometheus"]["agentMode"] is True
    (write,) = values["prometheus"]["prometheusSpec"]["remoteWrite"]
    address = "https://aps-workspaces.us-west-2.amazonaws.com/workspaces/"
    workspace = f"{{{{ .Values.{awaited.path} }}}}"
    assert write["url"] == f"{address}{workspace}/api/v1/remote_write"
    assert write["sigv4"] == {"region": "us-west-2"}
    assert f'"{awaited.key}=${{ids:-ws-ID}}"' in text(plan(), "bootstrap/up.sh")
    for off in ("alertmanager", "grafana"):
        assert values[off] == {"enabled": False}


def test_the_roles_may_write_and_read_this_workspace_and_nothing_else() -> None:
    arn = {"Fn::GetAtt": ["Workspace", "Arn"]}
    (writes,) = resources()["Role"]["Properties"]["Policies"][0]["PolicyDocument"]["Statement"]
    assert writes == {"Effect": "Allow", "Action": ["aps:RemoteWrite"], "Resource": arn}
    account = resources()["Association"]["Properties"]["ServiceAccount"]
    assert account == release().values["prometheus"]["serviceAccount"]["name"]
    _, reads = resources()["GrafanaRole"]["Properties"]["Policies"][0]["PolicyDocument"][
        "Statement"
    ]
    assert reads["Resource"] == arn
    assert not [action for action in reads["Action"] if "Write" in action or "Put" in action]


def test_the_cluster_keeps_no_secret_and_no_role_of_alerts() -> None:
    assert plan().one(TopicPublisher) is None
    assert {each.namespace for each in plan().of(AwaitedSecret)} == {"flux-system"}


def test_teams_let_the_agent_in() -> None:
    """The operator labels its pods otherwise than those of a Prometheus."""
    (policy,) = [
        each.body
        for each in objects_of(plan())
        if each.path.endswith("team-a.networkpolicy-training.yaml")
    ]
    peers = [peer for rule in policy["spec"]["ingress"] for peer in rule["from"]]
    labels = [peer["podSelector"].get("matchLabels", {}) for peer in peers if "podSelector" in peer]
    assert {"app.kubernetes.io/name": "prometheus-agent"} in labels


def test_no_grafana_is_made_unless_the_spec_says_how_people_log_in() -> None:
    other = plan_of(spec(monitoring={"managed": {}}))
    body = files(other)["bootstrap/stacks/monitoring.yaml"]
    assert "Grafana" not in body["Resources"]
    assert "AlertManagerDefinition" not in body["Resources"]["Workspace"]["Properties"]
    assert "bootstrap/dashboards.sh" not in files(other)
    assert "bootstrap/dashboards.sh" in files(plan())


@pytest.mark.slow
def test_the_report_has_the_sums(trainyard: Command) -> None:
    """1,000 series each 30 seconds are 87.6 million samples a month: 8.76 times the price of ten million."""
    volume = plan().one(SampleVolume)
    assert volume is not None
    assert plan().one(MonitoringSize) is None
    said = trainyard("report", str(SPEC)).out
    monthly = volume.series * 730 * 3600 / 30
    assert f"{monthly / 1e6:,.0f} million samples a month" in said
    assert f"sent: at most ${monthly / 1e7 * 0.9:,.2f} a month" in said
    assert "Grafana: $9.00 a month for each person who edits" in said
