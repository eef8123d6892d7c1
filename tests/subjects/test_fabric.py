"""docs/fabric.md: its jobs compile, and its commands are those of a shell."""

from __future__ import annotations

import copy
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from builders import ROOT
from trainyard.run.driver import check
from trainyard.run.outcome import Options

PAGE = (ROOT / "docs" / "fabric.md").read_text(encoding="utf-8")
JOBS: list[dict[str, Any]] = [
    yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
]
COMMANDS: list[str] = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
WARNED = {"network": set(), "tcp": {"RUN039", "LIM011"}}
"""What ``check`` says of each job, which the page explains."""


@pytest.mark.parametrize("part", JOBS, ids=lambda part: part["jobs"][0]["name"])
def test_the_jobs_of_the_page_compile(part: dict[str, Any], tmp_path: Path) -> None:
    data = copy.deepcopy(yaml.safe_load((ROOT / "specs" / "two-teams.yaml").read_text()))
    data["spec"]["jobs"] = [{**job, "queue": "team-a"} for job in part["jobs"]]
    file = tmp_path / "spec.yaml"
    file.write_text(yaml.safe_dump(data, sort_keys=False))
    [done] = check([file], Options(hold=False)).compilations
    found = {fact.code: fact.severity.name for fact in done.diagnostics}
    assert found.keys() == WARNED[part["jobs"][0]["name"]]
    assert set(found.values()) <= {"WARNING"}


@pytest.mark.parametrize("text", COMMANDS)
def test_the_commands_of_the_page_are_commands(text: str) -> None:
    done = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
