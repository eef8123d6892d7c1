"""Panel to counter: every query names metrics and labels that an exporter of the cluster has, and nothing is kept
that no query asks for."""

from __future__ import annotations

import re
from collections.abc import Iterator

import promql_parser
import pytest
from trainyard.extensions.observability.dashboards.plan import Dashboard
from trainyard.extensions.observability.monitoring.alerts import sending
from trainyard.extensions.observability.monitoring.alerts.records import POD_JOB, of_nodes
from trainyard.extensions.observability.monitoring.plan import Monitor, Rule
from trainyard.extensions.observability.monitoring.scripts.efa_exporter import COUNTERS
from trainyard.extensions.observability.promql import of_dashboard
from trainyard.extensions.observability.released_exporters import exporter_of, exporters, of
from trainyard.extensions.observability.released_exporters import metrics as known_metrics

from monitoring.observed import alerts, plan, release, rules
from monitoring.queries import grouped, made, metrics, selectors

LABELS = {name: each.labels for name, each in known_metrics().items() if not each.reader}
QUERIES = {rule.expr: rule.name for rule in rules()}


def quoted() -> Iterator[tuple[str, str]]:
    """Queries in the pages of alerts: what stands in backticks and names a metric."""
    for alert in alerts().values():
        for step in alert.steps:
            for code in re.findall(r"`([^`]+)`", step):
                if any(name in code for name in LABELS):
                    yield alert.name, code


STEPS = list(quoted())


def test_there_are_rules_of_every_subject() -> None:
    assert len([rule for rule in rules() if not rule.record]) >= 45
    assert {rule.name for rule in rules() if rule.record} >= {POD_JOB, *of_nodes(())}


@pytest.mark.parametrize(
    "query",
    [*QUERIES, *(code for _, code in STEPS)],
    ids=[*QUERIES.values(), *(f"{n}-step" for n, _ in STEPS)],
)
def test_a_query_names_metrics_and_labels_that_there_are(query: str) -> None:
    tree = promql_parser.parse(query)
    for name, labels in metrics(query).items():
        assert name in LABELS, f"no exporter has {name}"
        assert labels <= LABELS[name], f"{name} has no label {labels - LABELS[name]}"
    for labels, part in grouped(tree):
        assert labels <= made(part, LABELS), f"no label {labels - made(part, LABELS)} in {part}"


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.name)
def test_a_message_names_labels_that_its_alert_has(rule: Rule) -> None:
    if rule.record:
        assert made(promql_parser.parse(rule.expr), LABELS) | set(rule.labels) == set(
            LABELS[rule.name]
        )
        return
    labels = made(promql_parser.parse(rule.expr), LABELS)
    for text in (*rule.annotations.values(), *rule.labels.values()):
        assert set(re.findall(r"\$labels\.(\w+)", text)) <= labels


def test_a_wrong_name_is_found() -> None:
    """The check itself: a renamed metric, a label that it lacks, a label that an aggregation has dropped."""
    assert "DCGM_FI_DEV_GPU_TEMPERATURE" not in LABELS
    assert (
        not metrics('DCGM_FI_DEV_GPU_TEMP{Hostname="a"}')["DCGM_FI_DEV_GPU_TEMP"]
        <= LABELS["DCGM_FI_DEV_GPU_TEMP"]
    )
    query = promql_parser.parse("max by (node) (max by (gpu) (DCGM_FI_DEV_GPU_TEMP))")
    assert any(not labels <= made(part, LABELS) for labels, part in grouped(query))


def test_what_is_kept_is_asked_for() -> None:
    """A metric that no rule, page or panel names is a series for nothing."""
    asked = {name for query in QUERIES for name in metrics(query)}
    panels = [panel for board in plan().of(Dashboard) for panel in board.panels]
    drawn = [query.expr for panel in panels for query in panel.queries]
    asked |= {name for query in drawn for name in metrics(of_dashboard(query))}
    asked |= {name for alert in sending.ALERTS for name in metrics(alert.expr)}
    shown = {name for _, code in STEPS for name in metrics(code)}
    messages = "".join(text for rule in rules() for text in rule.annotations.values())
    shown |= {name for name in LABELS if name in messages}
    assert set(LABELS) - asked - shown - {"ALERTS", "up"} == set()
    assert {name for name in LABELS if name.startswith("DCGM_")} <= asked


def test_dcgm_has_the_counters_of_the_alerts_in_its_form() -> None:
    """Three fields a line, so no comma in a help text (dcgm-exporter 4.8.2, etc/default-counters.csv)."""
    counters: str = release("dcgm-exporter").values["customMetrics"]
    rows = [line.split(", ") for line in counters.splitlines()]
    assert {len(row) for row in rows} == {3}
    assert {row[1] for row in rows} <= {"gauge", "counter", "label"}
    names = {row[0] for row in rows if row[1] != "label"}
    assert names == {metric.name for metric in of("dcgm-exporter")}


def test_the_program_has_the_counters_that_are_kept() -> None:
    names = {f"node_amazonefa_{name}" for name in (*COUNTERS, "link_up")}
    assert names == set(exporters()["efa-exporter"].metrics)


def test_a_metric_has_one_exporter_by_its_beginning() -> None:
    for exporter in exporters().values():
        assert exporter.source
        for other in exporters().values():
            if other is exporter or other.name == "node-exporter":
                continue
            taken = [
                name
                for name in other.metrics
                for prefix in exporter.prefixes
                if name.startswith(prefix) and exporter_of(name) is not other
            ]
            assert [name for name in taken if not name.startswith("node_amazonefa_")] == []


def test_monitors_keep_what_their_exporters_have() -> None:
    for monitor in plan().of(Monitor):
        assert monitor.kept
        assert set(monitor.kept) <= set(LABELS)


def test_selectors_are_found_everywhere() -> None:
    found = selectors(
        promql_parser.parse("a + on (x) sum(rate(b[5m])) or topk(3, c) unless -d > bool 1")
    )
    assert [selector.name for selector in found] == ["a", "b", "c", "d"]
