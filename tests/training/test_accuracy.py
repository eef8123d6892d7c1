"""How far the arithmetic is from published measurements: the figures of docs/model-fit.md hold."""

from __future__ import annotations

import json
import re
import sys

import pytest
from running import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))

import model_fit

DATA = json.loads(model_fit.DATA.read_text(encoding="utf-8"))
PAGE = (ROOT / "docs" / "model-fit.md").read_text(encoding="utf-8")
# Stated: measurements, median and worst error, and the share that the range holds.
STATED = {
    ("memory", False): (29, 0.10, 0.30, 0.85),
    ("time", False): (60, 0.11, 0.50, 0.95),
    ("time", True): (3, 0.20, 0.65, 0.60),
}


@pytest.mark.parametrize(("what", "experts"), STATED)
def test_errors_are_as_small_as_stated(what: str, experts: bool) -> None:
    count, middle, worst, inside = STATED[what, experts]
    found = model_fit.summary(model_fit.judged(what, experts=experts))
    assert found.count == count
    assert found.median <= middle
    assert found.worst <= worst
    assert found.inside >= inside


def test_the_page_has_the_figures_that_the_benchmark_prints() -> None:
    *_, memory, time, experts = model_fit.tables()
    for line in (memory, time, experts):
        assert line in PAGE


def test_no_row_both_calibrates_and_is_judged() -> None:
    rows = [json.dumps([row["model"], row["machine"], row["setup"]]) for row in DATA["rows"]]
    uses = {row["use"] for row in DATA["rows"]}
    assert uses == {"calibration", "test"}
    assert len(rows) >= 40
    calibrating = [row for row in DATA["rows"] if row["use"] == "calibration"]
    assert len(calibrating) <= len(DATA["rows"]) / 5


@pytest.mark.parametrize("row", DATA["rows"], ids=lambda row: f"{row['source']}-{row['where']}")
def test_each_measurement_has_its_source_at_a_revision(row: dict[str, object]) -> None:
    source = DATA["sources"][row["source"]]
    assert re.match(r"[\w.-]+/[\w.-]+ [0-9a-f]{8}, \S+\.md", source)
    assert row["where"]
