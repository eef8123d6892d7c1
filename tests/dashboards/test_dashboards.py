"""Dashboards: what they ask is there, what is written is what Grafana's types say, and it comes back as it was."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import promql_parser
import pytest
from builders import ROOT, plan_of, spec
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models import units
from monitoring.observed import plan
from monitoring.queries import grouped, made, metrics
from trainyard.extensions.observability.dashboards import subjects
from trainyard.extensions.observability.dashboards.lower import dashboard_body
from trainyard.extensions.observability.dashboards.plan import Dashboard
from trainyard.extensions.observability.promql import of_dashboard
from trainyard.extensions.observability.released_exporters import metrics as known_metrics
from trainyard.run.lower import lower
from trainyard.verify.formats import lifted
from trainyard.verify.verifier import validate_body

LABELS = {name: metric.labels for name, metric in known_metrics().items()}
DASHBOARDS = {each.uid: each for each in plan().of(Dashboard)}
QUERIES = [
    pytest.param(query.expr, query.legend, id=f"{board.file}-{panel.title}")
    for board in DASHBOARDS.values()
    for panel in board.panels
    for query in panel.queries
]
OF_GPUS = {"gpus.json", "efa.json"}


def written(board: Dashboard) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(dashboard_body(board)["data"][board.file])
    return found


def test_each_subject_has_a_dashboard() -> None:
    """A module that `dashboards/resolve.py` does not name has none."""
    modules = {path.stem for path in Path(subjects.__file__).parent.glob("*.py")} - {"__init__"}
    assert len(DASHBOARDS) == len(modules)
    assert {board.file for board in DASHBOARDS.values()} > OF_GPUS


@pytest.mark.parametrize(("query", "legend"), QUERIES)
def test_a_panel_names_metrics_and_labels_that_there_are(query: str, legend: str) -> None:
    tree = promql_parser.parse(of_dashboard(query))
    for name, labels in metrics(of_dashboard(query)).items():
        assert name in LABELS, f"no exporter has {name}"
        assert labels <= LABELS[name], f"{name} has no label {labels - LABELS[name]}"
    for labels, part in grouped(tree):
        assert labels <= made(part, LABELS), f"no label {labels - made(part, LABELS)} in {part}"
    named = {part.split("}}")[0] for part in legend.split("{{")[1:]}
    assert named <= made(tree, LABELS)


@pytest.mark.parametrize("board", DASHBOARDS.values(), ids=DASHBOARDS)
def test_a_variable_has_the_values_of_a_label_that_there_is(board: Dashboard) -> None:
    for variable in board.variables:
        selector, label = variable.query[len("label_values(") : -1].rsplit(", ", 1)
        ((name, labels),) = metrics(selector).items()
        assert {label, *labels} <= LABELS[name]
    used = json.dumps([query.expr for panel in board.panels for query in panel.queries])
    for variable in board.variables:
        assert f"${variable.name}" in used or f"${{{variable.name}}}" in used


@pytest.mark.parametrize("board", DASHBOARDS.values(), ids=DASHBOARDS)
def test_grafanas_own_types_read_it_and_write_the_same(board: Dashboard) -> None:
    """A field that they do not know would be lost, and one of another type fails."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        from grafana_foundation_sdk.models import dashboard as grafana

        register_default_plugins()
    whole = written(board)
    again = json.loads(json.dumps(grafana.Dashboard.from_json(whole), cls=JSONEncoder))
    for panel in again["panels"]:
        # What they add to a panel without options of its own.
        if panel.get("fieldConfig", {}).get("defaults", {}).get("custom") == {}:
            del panel["fieldConfig"]["defaults"]["custom"]
    assert again == whole


@pytest.mark.parametrize("board", DASHBOARDS.values(), ids=DASHBOARDS)
def test_no_two_panels_share_an_id_or_a_place(board: Dashboard) -> None:
    panels = written(board)["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        across = range(place["x"], place["x"] + place["w"])
        cells = {(x, y) for x in across for y in range(place["y"], place["y"] + place["h"])}
        assert not cells & taken
        taken |= cells


def test_units_are_grafanas() -> None:
    known = {value for name, value in vars(units).items() if not name.startswith("_")}
    assert {panel.unit for board in DASHBOARDS.values() for panel in board.panels} <= known


def test_dashboards_are_read_back_as_they_were_written() -> None:
    read = lifted(lower(plan()), closed=True)
    assert {each.uid: each for each in read.of(Dashboard)} == DASHBOARDS


def test_a_cluster_without_gpus_has_no_dashboards_of_them() -> None:
    cpus = {"instanceTypes": ["c7i.4xlarge"], "efa": False}
    found = plan_of(spec(monitoring={}, pool=cpus, job={"nodes": 1})).of(Dashboard)
    others = {board.file for board in DASHBOARDS.values()} - {board.file for board in found}
    assert others >= OF_GPUS
    assert {"jobs.json", "queues.json", "cost.json"}.isdisjoint(others)
    assert not any("DCGM_" in query.expr for b in found for p in b.panels for query in p.queries)


def test_jobs_queues_and_pools_change_no_dashboard() -> None:
    more = {"nodes": {"max": 40}}
    one, other = plan_of(spec(monitoring={})), plan_of(spec(monitoring={}, pool=more))
    assert one.of(Dashboard) == other.of(Dashboard)


def test_the_cost_of_a_time_follows_from_the_interval() -> None:
    found = plan_of(spec(monitoring={"interval": "2m"})).of(Dashboard)
    (cost,) = [board for board in found if board.file == "cost.json"]
    assert any("* 120 / 3600" in panel.queries[0].expr for panel in cost.panels)


def test_a_dashboard_that_outgrows_its_config_map_is_refused() -> None:
    body = dashboard_body(DASHBOARDS["trainyard-gpus"])
    assert validate_body(body) == []
    body["data"]["gpus.json"] *= 200
    (fault,) = validate_body(body)
    assert fault.code == "SCH011"
    assert "1048576" in fault.message


def test_dashboards_of_others_are_read() -> None:
    """Panels in rows that are closed, data sources by name, and those of other kinds, which are left out."""
    prometheus = {"type": "prometheus", "uid": "$source"}
    hidden = {"type": "graph", "title": "b", "datasource": "Prometheus", "targets": [{"expr": "b"}]}
    panels = [
        {"type": "timeseries", "title": "a", "datasource": prometheus, "targets": [{"expr": "a"}]},
        {"type": "row", "title": "closed", "panels": [hidden]},
        {"type": "logs", "datasource": {"type": "loki"}, "targets": [{"expr": '{app="a"}'}]},
        {"type": "timeseries", "targets": [{"expr": "unknown"}]},
    ]
    data = {"a.json": json.dumps({"title": "A", "panels": panels}), "b.json": "{", "c.txt": "{}"}
    metadata = {"name": "a", "namespace": "x", "labels": {"grafana_dashboard": "1"}}
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
    from trainyard.output.manifest import Manifest

    (board,) = lifted([Manifest(body, "a.yaml")], closed=False).of(Dashboard)
    assert [(panel.row, panel.queries[0].expr) for panel in board.panels] == [
        ("", "a"),
        ("closed", "b"),
    ]


@pytest.mark.slow
def test_without_monitoring_no_dashboard_is_made_and_no_type_of_grafana_imported() -> None:
    assert not plan_of(spec()).of(Dashboard)
    code = (
        "import sys\nfrom trainyard.cli.main import main\n"
        "sys.argv = ['trainyard', 'check', 'specs/starter.yaml', '-q']\n"
        "assert main() == 0\n"
        "print(*(n for n in sys.modules if n.startswith(('grafana', 'promql')) or '.subjects.' in n))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("\n", "")
