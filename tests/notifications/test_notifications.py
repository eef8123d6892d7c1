"""Notifications: who gets which alert, what is read of which Secret, and that nothing is made without the key."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from builders import faults_of, files, plan_of, spec
from trainyard.catalog import load_catalog
from trainyard.catalog.charts import unknown, values_of
from trainyard.eks.flux.plan import HelmRelease
from trainyard.eks.health.alert import PLATFORM
from trainyard.eks.rbac.plan import Access
from trainyard.eks.secrets.plan import AwaitedSecret, ExternalSecret
from trainyard.extensions.observability.monitoring.alerts import pages
from trainyard.extensions.observability.notifications.plan import FluxAlert, FluxProvider
from trainyard.run.lower import lower
from trainyard.verify.formats import lifted

AMTOOL = shutil.which("amtool")
needs_amtool = pytest.mark.skipif(
    AMTOOL is None, reason="amtool is missing: apt-get install prometheus-alertmanager"
)
TOPIC = "arn:aws:sns:us-west-2:111122223333:gpu-alerts"
KEY = "arn:aws:kms:us-west-2:111122223333:key/0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"
CHAT = {
    "name": "chat",
    "slack": {"channel": "#gpu", "apiUrl": {"secret": "chat", "key": "address"}},
}
TEAM = {"name": "team", "slack": {"channel": "#team", "apiUrl": {"secret": "team", "key": "url"}}}
PAGER = {"name": "pager", "pagerDuty": {"routingKey": {"secret": "pager", "key": "routing-key"}}}
SNS = {"name": "topic", "sns": {"topicArn": TOPIC, "kmsKey": KEY}}
HOOK = {"name": "hook", "webhook": {"url": {"secret": "hook", "key": "address"}}}


def notified(*receivers: dict[str, Any], **keys: Any) -> dict[str, Any]:
    """A spec of two teams with monitoring and notifications."""
    return spec(
        namespaces=[{"name": "team-a"}, {"name": "team-b"}],
        job={"namespace": "team-a"},
        monitoring={},
        notifications={"receivers": list(receivers), **keys},
    )


def alertmanager(data: dict[str, Any]) -> dict[str, Any]:
    """The chart's values of Alertmanager."""
    (release,) = [
        each for each in plan_of(data).of(HelmRelease) if each.name == "kube-prometheus-stack"
    ]
    values: dict[str, Any] = release.values["alertmanager"]
    return values


def reached(labels: Mapping[str, str], folder: Path, data: dict[str, Any]) -> list[str]:
    """The receivers that an alert of these labels goes to, as amtool says."""
    pairs = [f"{name}={value}" for name, value in labels.items()]
    path = written(folder, data)
    done = amtool("config", "routes", "test", f"--config.file={path}", *pairs)
    return done.stdout.strip().split(",")


def written(folder: Path, data: dict[str, Any]) -> Path:
    path = folder / "alertmanager.yaml"
    path.write_text(yaml.safe_dump(alertmanager(data)["config"]), encoding="utf-8")
    return path


def amtool(*arguments: str) -> subprocess.CompletedProcess[str]:
    assert AMTOOL is not None
    done = subprocess.run([AMTOOL, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def test_without_the_key_nothing_is_made() -> None:
    assert set(alertmanager(spec(monitoring={}))) == {"serviceMonitor", "alertmanagerSpec"}
    plan = plan_of(spec())
    for kind in (FluxAlert, FluxProvider, AwaitedSecret):
        assert not plan.of(kind)
    assert "bootstrap/stacks/notifications.yaml" not in files(plan)


def test_the_pinned_chart_reads_every_value() -> None:
    plan = plan_of(notified(CHAT, SNS, default="chat", critical="topic"))
    (found,) = [each for each in plan.of(HelmRelease) if each.name == "kube-prometheus-stack"]
    known = values_of("kube-prometheus-stack", found.version)
    assert known is not None
    assert not list(unknown(found.values, known))


@needs_amtool
@pytest.mark.slow
def test_amtool_accepts_receivers_of_slack_pagerduty_and_sns(tmp_path: Path) -> None:
    data = notified(CHAT, PAGER, SNS, default="chat", critical="pager", teams={"team-a": "topic"})
    assert "SUCCESS" in amtool("check-config", str(written(tmp_path, data))).stdout


@needs_amtool
@pytest.mark.slow
def test_amtool_accepts_webhooks(tmp_path: Path) -> None:
    """That of Debian is 0.25.0; `url_file` of a webhook came with 0.26.0 (Alertmanager, changelog)."""
    version = re.search(r"version (\d+)\.(\d+)", amtool("--version").stdout)
    assert version is not None
    if (int(version[1]), int(version[2])) < (0, 26):
        pytest.skip(f"amtool {version[1]}.{version[2]} is older than `url_file` of a webhook: 0.26")
    data = notified(CHAT, HOOK, default="chat", watchdog="hook")
    assert "SUCCESS" in amtool("check-config", str(written(tmp_path, data))).stdout


ROUTED = notified(CHAT, TEAM, PAGER, default="chat", critical="pager", teams={"team-a": "team"})
SAME = notified(CHAT, TEAM, default="chat", critical="team", teams={"team-a": "team"})
ALONE = notified(CHAT, default="chat", critical="chat", teams={"team-a": "chat"})
ONE = notified(CHAT, TEAM, default="chat", critical="chat", teams={"team-a": "team"})


@needs_amtool
@pytest.mark.slow
@pytest.mark.parametrize(
    ("data", "owner", "severity", "receivers"),
    [
        (ROUTED, PLATFORM, "warning", ["chat"]),
        (ROUTED, PLATFORM, "critical", ["pager", "chat"]),
        (ROUTED, "team-a", "info", ["team"]),
        (ROUTED, "team-a", "critical", ["pager", "team"]),
        (ROUTED, "team-b", "warning", ["chat"]),
        # Nobody is sent an alert twice.
        (SAME, "team-a", "critical", ["team"]),
        (SAME, PLATFORM, "critical", ["team", "chat"]),
        (ALONE, PLATFORM, "critical", ["chat"]),
        (ALONE, "team-a", "critical", ["chat"]),
        (ALONE, "team-a", "info", ["chat"]),
        (ONE, PLATFORM, "critical", ["chat"]),
        (ONE, "team-a", "critical", ["chat", "team"]),
    ],
)
def test_who_gets_an_alert(
    tmp_path: Path, data: dict[str, Any], owner: str, severity: str, receivers: list[str]
) -> None:
    labels = {"alertname": "NodeDown", "owner": owner, "severity": severity}
    assert reached(labels, tmp_path, data) == receivers


def test_one_receiver_of_everything_needs_no_route() -> None:
    """But that of the alert that always fires, which nobody is to get."""
    (watchdog,) = alertmanager(ALONE)["config"]["route"]["routes"]
    assert watchdog["matchers"] == ['alertname = "Watchdog"']


@needs_amtool
@pytest.mark.slow
def test_watchdog_goes_to_what_waits_for_it_and_to_nobody_else(tmp_path: Path) -> None:
    labels = {"alertname": "Watchdog", "owner": PLATFORM, "severity": "info"}
    assert reached(labels, tmp_path, ROUTED) == ["Nobody"]
    waiting = notified(CHAT, SNS, default="chat", watchdog="topic")
    assert reached(labels, tmp_path, waiting) == ["topic"]


def test_watchdog_is_an_alert() -> None:
    names = [alert.name for alerts in pages(load_catalog().xids).values() for alert in alerts]
    assert "Watchdog" in names


def test_values_of_secrets_are_read_from_files() -> None:
    data = notified(CHAT, PAGER, HOOK, default="chat", critical="pager", watchdog="hook")
    values = alertmanager(data)
    assert values["alertmanagerSpec"]["secrets"] == ["chat", "hook", "pager"]
    found = {receiver["name"]: receiver for receiver in values["config"]["receivers"]}
    mounted = "/etc/alertmanager/secrets"
    assert found["chat"]["slack_configs"][0]["api_url_file"] == f"{mounted}/chat/address"
    assert (
        found["pager"]["pagerduty_configs"][0]["routing_key_file"] == f"{mounted}/pager/routing-key"
    )
    assert found["hook"]["webhook_configs"][0]["url_file"] == f"{mounted}/hook/address"
    assert "serviceAccount" not in values


def test_alertmanager_has_no_receiver_of_flux_alone() -> None:
    values = alertmanager(notified(CHAT, HOOK, default="chat", flux="hook"))
    names = [receiver["name"] for receiver in values["config"]["receivers"]]
    assert names == ["chat", "Nobody"]
    assert values["alertmanagerSpec"]["secrets"] == ["chat"]


def test_the_role_publishes_to_the_topic_and_nothing_else() -> None:
    data = notified(CHAT, SNS, default="chat", critical="topic")
    body = files(plan_of(data))["bootstrap/stacks/notifications.yaml"]
    resources = body["Resources"]
    (policy,) = resources["Role"]["Properties"]["Policies"]
    publish, keys = policy["PolicyDocument"]["Statement"]
    assert publish == {"Effect": "Allow", "Action": ["sns:Publish"], "Resource": [TOPIC]}
    assert keys["Resource"] == [KEY]
    association = resources["Association"]["Properties"]
    account = alertmanager(data)["serviceAccount"]["name"]
    assert association["ServiceAccount"] == account
    assert association["Namespace"] == "monitoring"


def test_flux_says_what_it_fails_to_apply_without_monitoring_too() -> None:
    plan = plan_of(spec(notifications={"receivers": [CHAT], "flux": "chat"}))
    (provider,), (alert,) = plan.of(FluxProvider), plan.of(FluxAlert)
    assert (provider.type, provider.channel, provider.secret) == ("slack", "#gpu", "chat")
    assert alert.provider == provider.name
    assert alert.severity == "error"
    assert {("Kustomization", "*"), ("HelmRelease", "*")} < set(alert.sources)
    assert {provider.namespace, alert.namespace} == {"flux-system"}
    (awaited,) = plan.of(AwaitedSecret)
    assert (awaited.namespace, awaited.name, awaited.key) == ("flux-system", "chat", "address")


def test_what_is_written_of_flux_is_read_back() -> None:
    plan = plan_of(spec(notifications={"receivers": [HOOK], "flux": "hook"}))
    bodies = [each for each in lower(plan) if "notification.toolkit" in str(each.body)]
    back = lifted(bodies, closed=False)
    assert back.of(FluxProvider) == plan.of(FluxProvider)
    assert back.of(FluxAlert) == plan.of(FluxAlert)


def test_external_secrets_makes_secrets_of_receivers() -> None:
    data = notified(CHAT, default="chat", flux="chat")
    stored = {"existing": {"name": "platform/chat"}, "keys": {"address": "url"}}
    data["spec"]["secrets"] = [
        {"name": "chat", "namespaces": ["monitoring", "flux-system"], "secretsManager": stored}
    ]
    plan = plan_of(data)
    assert {each.namespace for each in plan.of(ExternalSecret)} == {"monitoring", "flux-system"}
    assert not plan.of(AwaitedSecret)
    rights = {each.namespace for each in plan.of(Access) if each.name == "trainyard-secrets"}
    assert {"monitoring", "flux-system"} <= rights


def test_nobody_makes_secrets_in_monitoring_without_a_receiver_there() -> None:
    data = spec(monitoring={})
    data["spec"]["secrets"] = [
        {
            "name": "chat",
            "namespaces": ["monitoring"],
            "secretsManager": {"existing": {"name": "c"}},
        }
    ]
    assert [fault.code for fault in faults_of(data)] == ["RES013"]


def test_up_asks_for_secrets_that_nothing_makes() -> None:
    data = notified(CHAT, HOOK, default="chat", flux="hook")
    text = files(plan_of(data))["bootstrap/up.sh"]
    for line in ("monitoring chat address", "flux-system hook address"):
        assert f'  echo "{line}"\n' in text
