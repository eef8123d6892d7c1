"""OpenCost: which prices it reads for which node and volume, which metrics are kept for it, and what they take."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from builders import ROOT, faults_of, objects_of, plan_of, spec
from trainyard.eks.flux.plan import HelmRelease, Stage
from trainyard.extensions.observability.exporters import made
from trainyard.extensions.observability.monitoring.plan import MonitoringSize
from trainyard.extensions.observability.opencost.plan import CostPrices
from trainyard.extensions.observability.released_exporters import exporters
from trainyard.plan import Plan
from trainyard.run.driver import check
from trainyard.run.outcome import Options

from monitoring.observed import SPEC, release
from monitoring.observed import plan as without
from monitoring.replay import OF_CLUSTER, OF_NODES, nodes, opencost

PRICES = "opencost-prices"
REGION, TYPE = "topology.kubernetes.io/region", "node.kubernetes.io/instance-type"
POOL = "trainyard.dev/pool"


@pytest.fixture(scope="module")
def observed(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    """The cluster of the other tests of monitoring, with OpenCost."""
    path = tmp_path_factory.mktemp("opencost") / "observed.yaml"
    text = SPEC.read_text(encoding="utf-8")
    path.write_text(text.replace("{gpuUtilization: 95}", "{gpuUtilization: 95, openCost: {}}"))
    (done,) = check([path], Options()).compilations
    assert list(done.diagnostics) == []
    assert done.plan is not None
    return done.plan


@dataclass
class Reader:
    """What OpenCost makes of a table of prices, as it is read by pkg/cloud/provider/csvprovider.go (5f653330): a node
    by one field of its own, else by Region and type; a volume by one field."""

    exact: dict[str, float]
    classes: dict[str, list[float]]
    volumes: dict[str, float]
    field: str
    field_of_volumes: str

    @classmethod
    def of(cls, table: str) -> Reader:
        exact: dict[str, float] = {}
        classes: dict[str, list[float]] = {}
        volumes: dict[str, float] = {}
        fields = {"node": "", "pv": ""}
        for row in csv.reader(table.splitlines()):
            _, name, region, kind, field, instance_type, price, _ = row
            key = f"{region.lower()},{name.lower()}" if region else name.lower()
            fields[kind] = field
            if kind == "pv":
                volumes[key] = float(price)
            else:
                exact[key] = float(price)
                classes.setdefault(f"{region},{instance_type}", []).append(float(price))
        return cls(exact, classes, volumes, fields["node"], fields["pv"])

    def node(self, labels: Mapping[str, str]) -> float | None:
        label = self.field.removeprefix("metadata.labels.")
        key = f"{labels[REGION]},{labels.get(label, '')}".lower()
        if key in self.exact:
            return self.exact[key]
        prices = self.classes.get(f"{labels[REGION]},{labels[TYPE]}", [])
        assert len(prices) < 2, "a mean of several prices, which OpenCost gets wrong"
        return prices[0] if prices else None


def table(plan: Plan) -> str:
    (prices,) = [each for each in objects_of(plan) if each.body["metadata"]["name"] == PRICES]
    text: str = prices.body["data"]["prices.csv"]
    return text


def of_node(pool: str, instance_type: str) -> dict[str, str]:
    of_pool = {POOL: pool} if pool else {}
    return {REGION: "us-west-2", TYPE: instance_type, **of_pool}


def test_without_the_key_nothing_is_made() -> None:
    plan = plan_of(spec(monitoring={}))
    assert not plan.of(CostPrices)
    assert not [each.path for each in objects_of(plan) if "opencost" in each.path]
    size = plan.one(MonitoringSize)
    assert size is not None
    assert size.series["opencost"] == 0


def test_a_node_costs_what_the_report_says(observed: Plan) -> None:
    read = Reader.of(table(observed))
    (prices,) = observed.of(CostPrices)
    assert read.node(of_node("h100", "p5.48xlarge")) == prices.types["p5.48xlarge"]
    assert read.node(of_node("", "c7g.2xlarge")) == prices.types["c7g.2xlarge"]
    # of a Capacity Block its own price, which is not that on demand
    assert read.node(of_node("block", "p5en.48xlarge")) == prices.pools["block"]
    assert prices.pools["block"] < prices.types["p5en.48xlarge"]
    # of a type that has no price OpenCost takes its own
    assert read.node(of_node("", "m5.large-of-another-time")) is None


def test_a_volume_costs_what_its_class_does_and_a_file_system_nothing(observed: Plan) -> None:
    read = Reader.of(table(observed))
    assert read.field_of_volumes == "spec.storageClassName"
    assert read.volumes["monitoring"] == pytest.approx(0.08 / 730, rel=1e-4)
    assert read.volumes["logging"] == read.volumes["monitoring"]
    assert read.volumes[""] == 0


def test_volumes_of_jobs_have_a_price() -> None:
    scratch = {"name": "scratch", "ebs": {"create": {"size": "100Gi", "each": "pod"}}}
    plan = plan_of(spec(monitoring={"openCost": {}}, storage=[scratch]))
    (prices,) = plan.of(CostPrices)
    assert {"", "monitoring", "ebs-scratch"} == set(prices.volumes)


def test_the_fee_of_auto_mode_is_in_the_price() -> None:
    auto = spec(monitoring={"openCost": {}}, platform={"eks": {"autoMode": {}}})
    plain = spec(monitoring={"openCost": {}})
    (with_fee,), (without_fee,) = plan_of(auto).of(CostPrices), plan_of(plain).of(CostPrices)
    assert with_fee.types["p5.48xlarge"] > without_fee.types["p5.48xlarge"]


def test_no_pool_on_demand_changes_the_table() -> None:
    """So two branches that add pools merge (ADR 9)."""
    one = spec(monitoring={"openCost": {}})
    other = spec(monitoring={"openCost": {}}, pool={"name": "another"}, job={"pool": "another"})
    assert table(plan_of(one)) == table(plan_of(other))


def relabellings(plan: Plan) -> Iterator[str]:
    """The regular expressions by which metrics are kept, of all exporters that have some for OpenCost."""
    stack: Any = release("kube-prometheus-stack", plan).values
    monitor = stack["kubelet"]["serviceMonitor"]
    states = stack["kube-state-metrics"]["prometheus"]["monitor"]["http"]
    own: Any = release("opencost", plan).values["opencost"]["metrics"]["serviceMonitor"]
    for kept in (
        monitor["metricRelabelings"],
        monitor["cAdvisorMetricRelabelings"],
        states["metricRelabelings"],
        own["metricRelabelings"],
    ):
        yield kept[0]["regex"]


def kept(plan: Plan) -> list[str]:
    counters: str = release("dcgm-exporter", plan).values["customMetrics"]
    names = [line.partition(",")[0] for line in counters.splitlines()]
    return names + [name for regex in relabellings(plan) for name in regex.split("|")]


def test_all_that_it_reads_is_kept_and_nothing_twice(observed: Plan) -> None:
    read = {
        name
        for exporter in exporters().values()
        for name, metric in exporter.metrics.items()
        if metric.reader == "opencost"
    }
    names = kept(observed)
    assert read <= set(names)
    assert made(observed)["opencost"] == set(exporters()["opencost"].metrics)
    # kube-state-metrics has most of what OpenCost would say a second time
    assert len(names) == len(set(names))


def test_without_it_none_of_that_is_kept() -> None:
    stack: Any = release("kube-prometheus-stack", without()).values
    states = stack["kube-state-metrics"]["prometheus"]["monitor"]["http"]
    assert "kube_pod_owner" not in states["metricRelabelings"][0]["regex"]
    assert "DEC_UTIL" not in release("dcgm-exporter", without()).values["customMetrics"]


def test_the_estimate_counts_its_series(observed: Plan) -> None:
    """Against what exporters say of the same nodes, pods and volumes: at most 30 percent above, and never below."""
    size, before = observed.one(MonitoringSize), without().one(MonitoringSize)
    assert size is not None
    assert before is not None
    stack: Any = release("kube-prometheus-stack", observed).values
    states = stack["kube-state-metrics"]["prometheus"]["monitor"]["http"]["metricRelabelings"]
    containers = stack["kubelet"]["serviceMonitor"]["cAdvisorMetricRelabelings"]
    own: Any = release("opencost", observed).values["opencost"]["metrics"]["serviceMonitor"]
    said = {
        "kube-state-metrics": counted(OF_CLUSTER["kube-state-metrics"](), states),
        "opencost": counted(opencost(), own["metricRelabelings"]),
        "cadvisor": sum(counted(OF_NODES["cadvisor"](node), containers) for node in nodes()),
    }
    estimate = {name: size.series[name] for name in said}
    total, real = sum(estimate.values()), sum(said.values())
    assert 0 <= total - real <= 0.3 * real, (estimate, said)
    gpus = sum(node.type.gpus for node in nodes())
    assert size.series["dcgm-exporter"] - before.series["dcgm-exporter"] == 2 * gpus


def counted(lines: Iterator[str], relabellings: list[dict[str, Any]]) -> int:
    """The lines that relabellings keep; those of pods and sandboxes name no container of their own."""
    keep = re.compile(relabellings[0]["regex"])
    drops = len(relabellings) > 1
    found = 0
    for line in lines:
        of_pod = 'container=""' in line or 'container="POD"' in line
        if keep.fullmatch(line.partition("{")[0].partition(" ")[0]) and not (drops and of_pod):
            found += 1
    return found


def test_it_comes_after_its_prices_can_and_asks_the_prometheus_of_the_cluster(
    observed: Plan,
) -> None:
    (stage,) = [each for each in observed.of(Stage) if each.name == "trainyard-opencost"]
    assert stage.depends_on == ("trainyard-platform",)
    (chart,) = [each for each in observed.of(HelmRelease) if each.name == "opencost"]
    assert (chart.stage, chart.target) == ("opencost", "monitoring")
    assert chart.depends_on == ("kube-prometheus-stack",)
    values: Any = chart.values
    asked = values["opencost"]["prometheus"]["internal"]
    stack: Any = release("kube-prometheus-stack", observed).values
    assert asked["serviceName"] == f"{stack['fullnameOverride']}-prometheus"
    (volume,) = values["extraVolumes"]
    assert volume["configMap"]["name"] == PRICES
    assert table(observed)


def test_samples_that_aws_keeps_it_cannot_ask() -> None:
    (fault,) = faults_of(spec(monitoring={"managed": {}, "openCost": {}}))
    assert fault.code == "RES344"


def test_the_page_says_how_many_series_it_takes(observed: Plan) -> None:
    size, before = observed.one(MonitoringSize), without().one(MonitoringSize)
    assert size is not None
    assert before is not None
    page = (ROOT / "docs" / "monitoring.md").read_text(encoding="utf-8")
    assert f"{size.total:,} series at most instead of {before.total:,}" in page
