"""What monitoring takes: its sum on the system's nodes, its share of each pool's nodes, its series and its disk."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from builders import faults_of, plan_of, spec
from trainyard.eks.flux.plan import HelmRelease
from trainyard.extensions.observability.monitoring.plan import (
    EfaExporter,
    Monitor,
    MonitoringSize,
    RuleGroups,
)
from trainyard.extensions.observability.monitoring.sizing import BASE_MIB, BYTES_A_SERIES, CHURN
from trainyard.extensions.observability.pods import AGENTS
from trainyard.extensions.observability.report.monitoring import sums
from trainyard.language.units import Quantity

from monitoring.observed import SPEC, compilation, plan

GIB = 2**30
ID = "cr-0a1b2c3d4e5f60718"


def size_of(**parts: Any) -> MonitoringSize:
    found = plan_of(spec(**parts)).one(MonitoringSize)
    assert found is not None
    return found


def requests(values: Any) -> list[dict[str, str]]:
    """Every `resources.requests` in the values of a chart."""
    found = []
    if isinstance(values, dict):
        for key, inner in values.items():
            if key == "resources" and "requests" in inner and "cpu" in inner["requests"]:
                found.append(inner["requests"])
            else:
                found += requests(inner)
    return found


def test_all_of_it_fits_on_two_c7g_2xlarge() -> None:
    """S16: 15.8 CPUs and 27.5 GiB for all controllers of the cluster; RES042 and RES287 would be findings."""
    assert not compilation().diagnostics
    charts = {release.name: release for release in plan().of(HelmRelease)}
    found = requests(charts["kube-prometheus-stack"].values)
    cpu = sum(Quantity.parse(each["cpu"]).milli for each in found)
    memory = sum(Quantity.parse(each["memory"]).value for each in found)
    # Both sidecars of Grafana have the requests that stand in the values once.
    found.append(
        charts["kube-prometheus-stack"].values["grafana"]["sidecar"]["resources"]["requests"]
    )
    assert len(found) == 8
    assert cpu <= 1000
    assert memory <= 4 * GIB


def test_memory_and_disk_are_the_sums_that_the_report_shows() -> None:
    size = plan().one(MonitoringSize)
    assert size is not None
    needed = BASE_MIB * 2**20 + size.total * CHURN * BYTES_A_SERIES
    assert needed <= size.memory.value
    samples = size.total / 30 * 360 * 3600
    assert samples * 2 * 1.2 <= size.disk.value
    memory, disk = sums(size)
    assert f"{size.total:,} series" in memory
    assert str(size.memory) in memory
    assert f"{size.disk} made" in disk


def test_more_nodes_are_more_series_memory_and_disk() -> None:
    small = size_of(monitoring={})
    large = size_of(monitoring={}, pool={"nodes": {"max": 400}}, job={"nodes": 400})
    assert large.series["dcgm-exporter"] == 100 * small.series["dcgm-exporter"]
    assert large.memory.value > small.memory.value
    assert large.disk.value > small.disk.value


def test_a_short_interval_and_a_long_retention_need_disk() -> None:
    often = size_of(monitoring={"interval": "5s", "retention": "2160h"})
    seldom = size_of(monitoring={"interval": "2m", "retention": "2160h"})
    assert often.needed.value > seldom.needed.value


def test_a_disk_of_the_spec_is_taken_and_one_too_small_is_reported() -> None:
    assert str(size_of(monitoring={"disk": "100Gi"}).disk) == "100Gi"
    (fault,) = faults_of(spec(monitoring={"disk": "1Gi"}))
    assert fault.code == "RES330"
    huge = {"pool": {"nodes": {"max": 4000}}, "job": {"nodes": 4000}}
    found = faults_of(spec(monitoring={"retention": "87600h", "interval": "5s"}, **huge))
    (large,) = [fault for fault in found if fault.code == "RES330"]
    assert "no volume of gp3" in large.message


def test_without_the_key_nothing_is_made() -> None:
    found = plan_of(spec())
    assert not [*found.of(MonitoringSize), *found.of(Monitor), *found.of(RuleGroups)]
    assert not {"kube-prometheus-stack", "dcgm-exporter"} & {r.name for r in found.of(HelmRelease)}


def test_a_cluster_without_gpus_has_neither_exporter_nor_alerts_of_them() -> None:
    cpus = {"instanceTypes": ["c7i.4xlarge"], "efa": False}
    found = plan_of(spec(monitoring={}, pool=cpus, job={"nodes": 1}))
    names = {groups.name for groups in found.of(RuleGroups)}
    assert not {"trainyard-gpus", "trainyard-efa"} & names
    assert not found.of(EfaExporter)
    assert "dcgm-exporter" not in {release.name for release in found.of(HelmRelease)}
    size = found.one(MonitoringSize)
    assert size is not None
    assert size.series["dcgm-exporter"] == 0


def test_the_utilization_of_the_spec_is_that_of_the_alert() -> None:
    found = plan_of(spec(monitoring={"gpuUtilization": 95}))
    (jobs,) = [groups for groups in found.of(RuleGroups) if groups.name == "trainyard-jobs"]
    (rule,) = [rule for rule in jobs.groups["trainyard-jobs"] if rule.name == "JobUtilizationLow"]
    assert rule.expr.endswith("< 95")


@pytest.mark.parametrize(
    ("platform", "label", "privileged"),
    [
        ({}, "nvidia.com/gpu.present", False),
        ({"eks": {"autoMode": {}}}, "eks.amazonaws.com/instance-gpu-manufacturer", True),
    ],
    ids=["eks", "auto mode"],
)
def test_the_exporter_of_gpus_comes_to_their_nodes(
    platform: dict[str, Any], label: str, privileged: bool
) -> None:
    """And gets the GPUs: on Bottlerocket, which EKS Auto Mode runs, as a privileged container alone."""
    found = plan_of(spec(monitoring={"interval": "5s"}, platform=platform or None))
    (release,) = [release for release in found.of(HelmRelease) if release.name == "dcgm-exporter"]
    terms = release.values["affinity"]["nodeAffinity"][
        "requiredDuringSchedulingIgnoredDuringExecution"
    ]["nodeSelectorTerms"]
    assert [each["key"] for term in terms for each in term["matchExpressions"]] == [label]
    assert release.values.get("securityContext", {}).get("privileged", False) is privileged
    # The operator refuses a scrape timeout above the interval.
    assert release.values["serviceMonitor"]["scrapeTimeout"] == "5s"


@pytest.mark.parametrize("pool", ["h100", "block"])
def test_no_node_has_more_agents_than_are_counted(pool: str) -> None:
    """With all that a spec can ask for on a node of GPUs: logs, Lustre and buckets."""
    parts = yaml.safe_load(SPEC.read_text(encoding="utf-8"))
    parts["spec"]["storage"].append({"name": "data", "s3": {"create": {}}})
    (reason,) = [
        value.reason
        for value in plan_of(parts).derived
        if value.object == f"pool/{pool}" and value.reason.startswith("DaemonSets (")
    ]
    assert len(reason.split(", ")) <= AGENTS


@pytest.mark.parametrize(
    ("capacity", "group", "expected"),
    [
        (
            {"reserved": {"reservations": [{"id": ID}]}},
            False,
            "(4 - (count(kube_node_labels{label_karpenter",
        ),
        (
            [{"reserved": {"reservations": [{"id": ID, "nodes": 3}]}}, {"onDemand": {}}],
            False,
            "(3 - (count(",
        ),
        (
            {"reserved": {"reservations": [{"id": ID}]}},
            True,
            'label_eks_amazonaws_com_nodegroup=~"gpu|gpu-cr-',
        ),
    ],
)
def test_reserved_nodes_that_are_not_there_are_counted_by_the_label_of_their_launcher(
    capacity: object, group: bool, expected: str
) -> None:
    pool = {"nodes": 4, "capacity": capacity, **({"managedNodeGroup": {}} if group else {})}
    found = plan_of(spec(monitoring={}, pool=pool))
    rules = [
        rule.expr
        for groups in found.of(RuleGroups)
        for listed in groups.groups.values()
        for rule in listed
    ]
    assert any(expected in expr for expr in rules)


def test_a_block_without_an_end_has_no_alert_of_it() -> None:
    block = {"reservations": [{"id": ID}], "starts": "2026-12-01T11:30:00Z"}
    found = plan_of(spec(monitoring={}, pool={"nodes": 4, "capacity": {"block": block}}))
    texts = [str(groups.groups) for groups in found.of(RuleGroups)]
    assert any("vector(time()) > 1796124600" in text for text in texts)
    assert not any("vector(time()) < " in text for text in texts)


def test_a_disk_that_no_volume_has_is_refused() -> None:
    found = faults_of(spec(monitoring={"disk": "100Ti"}))
    assert "RES180" in {fault.code for fault in found}


def test_kuberay_is_watched_where_it_runs_jobs() -> None:
    job = {"kind": "RayJob", "nodes": 2, "command": ["python", "train.py"]}
    assert "kuberay-operator" in {
        each.name for each in plan_of(spec(monitoring={}, job=job)).of(Monitor)
    }
    assert "kuberay-operator" not in {
        each.name for each in plan_of(spec(monitoring={})).of(Monitor)
    }


def test_jobs_that_save_to_a_volume_of_their_own_are_not_watched() -> None:
    """No pod of another node can look at it."""
    job = {
        "volumes": [{"name": "own", "path": "/data", "emptyDir": {}}],
        "checkpoint": {"path": "/data/run", "every": "30m"},
    }
    names = {each.name for each in plan_of(spec(monitoring={}, job=job)).of(Monitor)}
    assert not [name for name in names if name.startswith("checkpoint-exporter")]
