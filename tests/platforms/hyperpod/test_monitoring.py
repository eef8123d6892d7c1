"""Monitoring, logs and notifications of HyperPod: EKS' rooms, in terms of HyperPod's own agent, names and prices."""

from __future__ import annotations

import copy
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import yaml
from trainyard.catalog import load_catalog
from trainyard.catalog.hyperpod import types
from trainyard.catalog.prices import sagemaker
from trainyard.core.pools.plan import NodeShare
from trainyard.extensions.hyperpod.groups.plan import HEALTH
from trainyard.extensions.observability.monitoring.plan import RuleGroups
from trainyard.language.units import Quantity
from trainyard.run.outcome import Compilation

from tests.platforms.hyperpod.clusters import errors, files, spec
from tests.platforms.passes import compiled

TOPIC = "arn:aws:sns:us-west-2:111122223333:models"
NOTIFICATIONS = {"receivers": [{"name": "mail", "sns": {"topicArn": TOPIC}}], "default": "mail"}
WATCHED: dict[str, Any] = {"monitoring": {"openCost": {}}, "notifications": NOTIFICATIONS}
GOVERNED = {"taskGovernance": {}}
OF_KARPENTER = ("nodeclaim", "karpenter", "node monitoring agent", "nodepoolrepair")


@cache
def _of(name: str) -> Compilation:
    parts: dict[str, dict[str, Any]] = {
        "plain": {},
        "watched": WATCHED,
        "governed": {**WATCHED, "own": GOVERNED},
        "managed": {"monitoring": {"managed": {}}, "notifications": NOTIFICATIONS},
        "loki": {**WATCHED, "logs": {"loki": {}}},
        "cloudWatch": {"logs": {"cloudWatch": {}}},
    }
    return _compiled(spec(**copy.deepcopy(parts[name])))


def _compiled(data: dict[str, Any]) -> Compilation:
    with TemporaryDirectory() as folder:
        return compiled(data, Path(folder))


def _docs(name: str, part: str) -> list[dict[str, Any]]:
    return [yaml.safe_load(text) for path, text in files(_of(name)).items() if part in path]


@pytest.mark.parametrize("name", ["watched", "governed", "managed", "loki", "cloudWatch"])
def test_each_is_taken_without_an_error(name: str) -> None:
    assert errors(_of(name)) == []


@pytest.mark.parametrize("name", ["watched", "governed", "managed", "loki"])
def test_nothing_tells_of_karpenter_which_is_not_there(name: str) -> None:
    for path, text in files(_of(name)).items():
        if path.startswith("monitoring/"):
            said = text.lower()
            assert [word for word in OF_KARPENTER if word in said] == [], path


@pytest.mark.parametrize("name", ["watched", "governed", "managed", "loki"])
def test_sick_nodes_are_those_of_hyperpods_agent(name: str) -> None:
    (release,) = _docs(name, "helmrelease-kube-prometheus-stack")
    (labels,) = [
        each
        for each in release["spec"]["values"]["kube-state-metrics"]["metricLabelsAllowlist"]
        if each.startswith("nodes=")
    ]
    assert HEALTH in labels
    assert not labels.endswith(",]"), "a launcher without a label of its parts"
    if name != "managed":
        assert "HyperPodNodeSick" in _alerts(name)
    assert not {"NodeUnhealthy", "NodeRepairStopped"} & set(_alerts(name))


def _alerts(name: str) -> list[str]:
    plan = _of(name).plan
    assert plan is not None
    return [
        rule.name
        for groups in plan.of(RuleGroups)
        for listed in groups.groups.values()
        for rule in listed
    ]


def test_types_and_prices_are_those_of_hyperpod() -> None:
    (exporter,) = _docs("watched", "daemonset-efa-exporter")
    pod = exporter["spec"]["template"]["spec"]
    (term,) = pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][
        "nodeSelectorTerms"
    ]
    named = term["matchExpressions"][0]["values"]
    assert "ml.p4d.24xlarge" in named
    assert {name.removeprefix("ml.") for name in named} <= types()
    assert all(name.startswith("ml.") for name in named)
    price = sagemaker(load_catalog(), "p4d.24xlarge", "us-west-2")
    assert price is not None
    (rules,) = _docs("watched", "prometheusrule-trainyard-pool-a100")
    (rule,) = rules["spec"]["groups"][0]["rules"]
    assert rule["labels"]["instance_type"] == "ml.p4d.24xlarge"
    assert rule["expr"] == f"vector({price.usd:g})"
    (prices,) = _docs("watched", "opencost-prices")
    assert "ml.p4d.24xlarge" in str(prices["data"])


def test_what_the_addon_of_task_governance_brings_is_not_scraped() -> None:
    assert any("servicemonitor-kueue" in path for path in files(_of("watched")))
    assert "QueueBlocked" in _alerts("watched")
    of_queues = ("servicemonitor-kueue", "dashboard-queues")
    assert not [path for path in files(_of("governed")) if any(of in path for of in of_queues)]
    assert not {"QueueBlocked", "QueueEvictsUnready"} & set(_alerts("governed"))
    for text in files(_of("governed")).values():
        if "kind: PrometheusRule" in text:
            assert "kueue_" not in text


def test_topics_are_published_to_by_a_role_of_pod_identity() -> None:
    (stack,) = _docs("watched", "stacks/notifications.yaml")
    kinds = {resource["Type"] for resource in stack["Resources"].values()}
    assert kinds == {"AWS::IAM::Role", "AWS::EKS::PodIdentityAssociation"}
    assert TOPIC in str(stack)


def test_jobs_get_what_the_exporters_leave() -> None:
    """node-exporter, dcgm-exporter, our exporter of EFA and the driver of its volumes; then Alloy besides."""
    left = {name: _left(name) for name in ("plain", "watched", "loki")}
    assert left["plain"].milli - left["watched"].milli == Quantity.mib(64 + 256 + 48 + 104).milli
    assert left["watched"] > left["loki"]


def _left(name: str) -> Quantity:
    plan = _of(name).plan
    assert plan is not None
    (share,) = plan.of(NodeShare)
    return share.left["memory"]


@pytest.mark.parametrize("monitored", [True, False])
def test_the_addon_of_observability_next_to_ours_is_a_warning(monitored: bool) -> None:
    addons = {"amazon-sagemaker-hyperpod-observability": {"version": "v1.0.2-eksbuild.1"}}
    parts: dict[str, Any] = {"eks": {"addons": addons}}
    if monitored:
        parts["monitoring"] = {}
    found = [each for each in _compiled(spec(**parts)).diagnostics if each.code == "RES436"]
    assert len(found) == monitored
