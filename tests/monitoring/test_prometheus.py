"""Real Prometheuses on this machine. One scrapes the exporters of the whole cluster, with the relabellings that its
monitors have, and has the series that were estimated; one scrapes a GPU that breaks, and its alert fires."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from builders import ROOT
from served import served
from trainyard.eks.flux.plan import HelmRelease
from trainyard.extensions.observability.monitoring.plan import Monitor, MonitoringSize

from monitoring.observed import alerts, plan
from monitoring.prometheus import MISSING, PROMETHEUS, Exporters, ask, started, wait_for
from monitoring.replay import OF_CLUSTER, OF_NODES, Node, nodes

HEALTHY = """\
# TYPE DCGM_FI_DEV_GPU_UTIL gauge
DCGM_FI_DEV_GPU_UTIL{gpu="3",UUID="GPU-1",namespace="team-a",pod="llama-1a2b3-node-0-0"} 98
# TYPE DCGM_EXP_XID_ERRORS_COUNT gauge
DCGM_EXP_XID_ERRORS_COUNT{gpu="3",UUID="GPU-1",window_size_in_ms="300000"} 0
"""
BROKEN = (
    HEALTHY
    + 'DCGM_EXP_XID_ERRORS_COUNT{gpu="3",UUID="GPU-1",xid="79",window_size_in_ms="300000"} 1\n'
)
DOCS = ROOT / "docs" / "monitoring.md"
MOST = 0.30
"""By how much the sum of the estimate may differ from the replay."""

pytestmark = [pytest.mark.slow, pytest.mark.skipif(PROMETHEUS is None, reason=MISSING)]


def texts() -> dict[str, str]:
    """What each exporter answers, by the path at which it is asked."""
    found = {f"/{name}": lines(says()) for name, says in OF_CLUSTER.items()}
    for node in nodes():
        for name, of_node in OF_NODES.items():
            if text := lines(of_node(node)):
                found[f"/{name}/{node.name}"] = text
    return found


def lines(text: Iterator[str]) -> str:
    return "".join(f"{line}\n" for line in text)


def kept() -> dict[str, list[dict[str, Any]]]:
    """The relabellings of each exporter's metrics, from the values of its chart or from its monitor."""
    releases = {release.name: release for release in plan().of(HelmRelease)}
    values: Any = releases["kube-prometheus-stack"].values
    (efa,) = [each for each in plan().of(Monitor) if each.name == "efa-exporter"]
    of_states = values["kube-state-metrics"]["prometheus"]["monitor"]["http"]["metricRelabelings"]
    of_nodes = values["prometheus-node-exporter"]["prometheus"]["monitor"]["metricRelabelings"]
    of_efa = [{"action": "keep", "sourceLabels": ["__name__"], "regex": "|".join(efa.kept)}]
    return {
        "node-exporter": of_nodes,
        "kube-state-metrics": of_states,
        "custom-resources": of_states,
        "cadvisor": values["kubelet"]["serviceMonitor"]["cAdvisorMetricRelabelings"],
        "efa-exporter": of_efa,
        "dcgm-exporter": [],
    }


def scraped(port: int, paths: Mapping[str, str]) -> list[dict[str, Any]]:
    """A job an exporter and a target a node, as Prometheus' own configuration has them."""
    jobs = []
    for name, relabellings in kept().items():
        targets = [_target(port, path) for path in paths if path.split("/")[1] == name]
        renamed = [
            {re.sub("([A-Z])", r"_\1", key).lower(): value for key, value in each.items()}
            for each in relabellings
        ]
        jobs.append(
            {"job_name": name, "static_configs": targets, "metric_relabel_configs": renamed}
        )
    return jobs


def _target(port: int, path: str) -> dict[str, Any]:
    """A target, with its node where it is one's."""
    labels = {"__metrics_path__": path}
    *_, node = path.removeprefix("/").split("/")
    if path.count("/") == 2:
        labels["node"] = node
    return {"targets": [f"127.0.0.1:{port}"], "labels": labels}


@dataclass(frozen=True)
class Servers:
    """The addresses of both, and what the second scrapes."""

    of_cluster: str
    of_gpu: str
    exporter: Exporters


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    """Both are started at once: each waits for five seconds."""
    folder = tmp_path_factory.mktemp("prometheus")
    cluster, gpu = Exporters(texts()), Exporters({"/metrics": HEALTHY})
    target = {"targets": [f"127.0.0.1:{gpu.server_port}"], "labels": {"node": "n1"}}
    one_gpu = [{"job_name": "dcgm-exporter", "static_configs": [target]}]
    with (
        served(cluster),
        served(gpu),
        started(
            folder / "cluster", scraped(cluster.server_port, cluster.texts), "1s"
        ) as of_cluster,
        started(folder / "gpu", one_gpu, "500ms") as of_gpu,
    ):
        yield Servers(of_cluster, of_gpu, gpu)


def counted(url: str, query: str) -> dict[str, int]:
    data = wait_for(url, f"query?query={query}", lambda data: data["result"])
    return {each["metric"].get("job", ""): int(each["value"][1]) for each in data["result"]}


def replayed(url: str) -> dict[str, int]:
    """The series of each exporter, of targets and of rules, once every target was scraped."""
    expected = len(texts())
    wait_for(url, "query?query=sum(up)", lambda data: _value(data) == expected, seconds=120)
    own = "up|scrape_duration_seconds|scrape_samples_.%2B|scrape_series_added"
    found = counted(url, f'count+by+(job)({{job!="",__name__!~"{own}|trainyard:.%2B|ALERTS.*"}})')
    found["targets"] = sum(counted(url, f'count({{__name__=~"{own}"}})').values())
    found["rules"] = _settled(url, 'count({__name__=~"trainyard:.%2B"})')
    return found


def _settled(url: str, query: str) -> int:
    """A number that is the same after all rules were evaluated twice more: rules that read others come later."""
    last, now = -1, 0
    while last != now:
        last = now
        _wait_for_evaluation(url)
        _wait_for_evaluation(url)
        now = sum(counted(url, query).values())
    return now


def _wait_for_evaluation(url: str) -> None:
    before = _evaluated(ask(url, "rules"))
    wait_for(url, "rules", lambda data: _evaluated(data).isdisjoint(before))


def _evaluated(rules: Any) -> set[tuple[str, str]]:
    """When each group of rules was last evaluated."""
    return {(group["name"], group["lastEvaluation"]) for group in rules["groups"]}


def _value(data: Any) -> int:
    return int(data["result"][0]["value"][1]) if data["result"] else 0


def stated() -> dict[str, tuple[int, int]]:
    """What the page says: the estimate and the replay of each exporter."""
    section = DOCS.read_text(encoding="utf-8").partition("### How far it is off")[2]
    rows = re.findall(r"^\| ([a-z-]+) \| ([\d,]+) \| ([\d,]+) \|", section, re.MULTILINE)
    return {name: (_number(first), _number(second)) for name, first, second in rows}


def _number(text: str) -> int:
    return int(text.replace(",", ""))


def test_the_estimate_is_within_thirty_percent_of_what_prometheus_has(servers: Servers) -> None:
    size = plan().one(MonitoringSize)
    assert size is not None
    found = replayed(servers.of_cluster)
    estimate = {name: size.series[name] for name in found}
    total, real = sum(estimate.values()), sum(found.values())
    assert 0 <= total - real <= MOST * real
    # The parts that are not replayed are too few to change that.
    assert size.total - total <= 0.05 * size.total
    said = stated()
    measured = {name: (estimate[name], found[name]) for name in found}
    assert said == {**measured, "all": (total, real)}


def test_what_alerts_do_not_ask_for_is_dropped() -> None:
    """The replay has such metrics, so that the relabellings are tested too."""
    (node, *_) = nodes()
    assert isinstance(node, Node)
    names = {line.partition("{")[0].partition(" ")[0] for line in OF_NODES["node-exporter"](node)}
    assert {"node_load1", "node_filesystem_files", "node_memory_MemFree_bytes"} <= names
    assert shutil.which("prometheus") == PROMETHEUS


def firing(answer: Any) -> set[str]:
    return {
        alert["labels"]["alertname"] for alert in answer["alerts"] if alert["state"] == "firing"
    }


def test_a_gpu_that_breaks_fires_its_alert(servers: Servers) -> None:
    prometheus, texts = servers.of_gpu, servers.exporter.texts
    wait_for(prometheus, "query?query=DCGM_FI_DEV_GPU_UTIL", lambda data: data["result"])
    before = wait_for(prometheus, "alerts", lambda data: "Watchdog" in firing(data))
    assert "GpuXidFatal" not in firing(before)

    texts["/metrics"] = BROKEN
    after = wait_for(prometheus, "alerts", lambda data: "GpuXidFatal" in firing(data))
    (alert,) = [each for each in after["alerts"] if each["labels"]["alertname"] == "GpuXidFatal"]
    assert alert["labels"] == {
        "alertname": "GpuXidFatal",
        "node": "n1",
        "gpu": "3",
        "xid": "79",
        "severity": "critical",
        "owner": "platform",
    }
    assert alert["annotations"] == {
        "summary": "GPU 3 of n1 reported Xid 79: the GPU has fallen off the bus",
        "description": alerts()["GpuXidFatal"].description,
    }
    rules = ask(prometheus, "rules")
    assert [
        rule["name"]
        for group in rules["groups"]
        for rule in group["rules"]
        if rule["health"] == "err"
    ] == []

    texts["/metrics"] = HEALTHY
    wait_for(prometheus, "alerts", lambda data: "GpuXidFatal" not in firing(data))
