"""Each alert fires at the series that it is for, with its labels and words, and is silent at those that are well."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from builders import ROOT, dumped
from trainyard.catalog import load_catalog
from trainyard.catalog.prices import on_demand

from monitoring.cases import ALWAYS, BLOCK_ENDS, CASES, Series, expected
from monitoring.observed import alerts, rules, write

PROMTOOL = shutil.which("promtool")
RUNBOOKS = (ROOT / "docs" / "runbooks.md").read_text(encoding="utf-8")

pytestmark = pytest.mark.slow
needs_promtool = pytest.mark.skipif(
    PROMTOOL is None, reason="promtool is missing: apt-get install prometheus"
)


def test_an_xid_that_pages_says_what_to_do() -> None:
    """Also where it counts as fatal, and NVIDIA asks for nothing."""
    alert = alerts()["GpuXidFatal"]
    for code in map(str, load_catalog().xids.fatal()):
        assert re.search(rf"[(|]{code}[|)]", alert.summary), code
        assert re.search(rf"Xid [0-9, ]*\b{code}\b", alert.description), code


def test_every_alert_has_a_case_and_an_entry_in_the_runbooks() -> None:
    assert set(alerts()) == set(CASES)
    headings = [
        line.removeprefix("### ") for line in RUNBOOKS.splitlines() if line.startswith("### ")
    ]
    assert headings == list(alerts())
    for rule in rules():
        if not rule.record:
            alert = alerts()[rule.name]
            assert rule.annotations["description"].startswith(f"{alert.means}\n1. {alert.steps[0]}")
            assert "{{" not in rule.annotations["description"], "Prometheus would fill it in"


def test_every_alert_says_what_it_means_and_what_to_do() -> None:
    for alert in alerts().values():
        assert alert.means.endswith(".")
        assert alert.steps
        assert alert.severity in ("critical", "warning", "info")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("rules")
    write(found / "rules.yaml")
    return found


def promtool(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    assert PROMTOOL is not None
    return subprocess.run(
        [PROMTOOL, *arguments],
        cwd=cwd,
        text=True,
        capture_output=True,
        check=False,
        env={**os.environ, "GOGC": "off"},  # it ends before it needs its memory back
    )


@needs_promtool
def test_promtool_accepts_the_rules(folder: Path) -> None:
    done = promtool("check", "rules", "--lint=all", "--lint-fatal", "rules.yaml", cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr


LONG = 200
"""Minutes from which on rules are evaluated every ten minutes, since 1500 evaluations take long."""


@cache
def price() -> str:
    """What a node of the cluster costs an hour, as a summary says it."""
    found = on_demand(load_catalog(), "p5.48xlarge", "us-west-2")
    assert found is not None
    return f"{found.usd:.4g}"


def unit(name: str, *, bad: bool, near: tuple[int, Series] | None = None) -> dict[str, Any]:
    """A test of promtool for an alert: series, and what fires at them after a time."""
    case, alert = CASES[name], alerts()[name]
    fires = expected(case, alert) if bad or name in ALWAYS else []
    for each in fires:
        summary = each["exp_annotations"]["summary"]
        each["exp_annotations"]["summary"] = summary.replace("PRICE", price())
    minutes = case.minutes
    if name == "BlockEnds" and not bad:
        minutes = BLOCK_ENDS // 60 + 60
    series = case.bad if bad else case.good
    if near is not None:
        minutes, series = near
    return {
        "name": name,
        "interval": "1m",
        "input_series": [{"series": key, "values": values} for key, values in series.items()],
        "alert_rule_test": [{"eval_time": f"{minutes}m", "alertname": name, "exp_alerts": fires}],
    }


@needs_promtool
@pytest.mark.parametrize("name", CASES)
def test_each_alert_fires_and_is_silent(name: str, tmp_path: Path) -> None:
    write(tmp_path / "rules.yaml", alert=name)  # promtool evaluates every rule of the file
    for file, bad in (("fires.yaml", True), ("silent.yaml", False)):
        tests = {
            "rule_files": ["rules.yaml"],
            "evaluation_interval": "10m" if CASES[name].minutes > LONG else "1m",
            "tests": [unit(name, bad=bad)],
        }
        if not bad:
            tests["tests"] += [unit(name, bad=False, near=near) for near in CASES[name].near]
        (tmp_path / file).write_text(dumped(tests))
    done = promtool("test", "rules", "fires.yaml", "silent.yaml", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("SUCCESS") == 2
