"""The values that charts know."""

from __future__ import annotations

import json

import pytest
from trainyard.catalog.charts import DATA, ChartValues, UnknownValue, unknown, values_of

CHARTS = sorted(file.stem for file in DATA.glob("*.json"))


@pytest.mark.parametrize("chart", CHARTS)
def test_a_chart_is_known_by_its_version(chart: str) -> None:
    row = json.loads((DATA / f"{chart}.json").read_bytes())
    number = row["version"].lstrip("v")
    for version in (number, f"v{number}", f" {number} "):
        known = values_of(chart, version)
        assert known is not None
        assert known.tree == row["values"]
    assert values_of(chart, f"{number}1") is None


def test_a_chart_that_nobody_derived_is_not_known() -> None:
    assert values_of("nobodys-chart", "1.0.0") is None


def test_a_key_is_unknown_by_its_path_and_what_is_there_instead() -> None:
    tree = {"server": {"replicas": None, "labels": {}}, "image": None}
    known = ChartValues("a", "1", tree, frozenset({"anywhere"}), "")
    values = {"server": {"replica": 1, "labels": {"a": "b"}, "anywhere": 1}, "image": {"tag": "1"}}
    assert list(unknown(values, known)) == [
        UnknownValue(("server", "replica"), ("replicas", "labels"))
    ]
