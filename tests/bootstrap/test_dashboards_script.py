"""``dashboards.sh``: the data source and dashboards reach Grafana, and no command line has the token."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from running import ROOT, Command

SPEC = ROOT / "tests" / "scenarios" / "observed-by-aws.yaml"
AWS = """#!/bin/bash
case "$1 $2" in
  "amp list-workspaces") echo "${WORKSPACE:-ws-1}" ;;
  "grafana list-workspaces") echo g-1 ;;
  "amp describe-workspace") echo https://aps-workspaces.us-west-2.amazonaws.com/workspaces/ws-1/ ;;
  "grafana describe-workspace") echo g-1.grafana-workspace.us-west-2.amazonaws.com ;;
  "grafana create-workspace-service-account") echo 7 ;;
  "grafana create-workspace-service-account-token") echo T0KEN ;;
  "grafana delete-workspace-service-account") echo "$*" >"$CALLS/deleted" ;;
esac
"""
CURL = """#!/bin/bash
number=$(ls "$CALLS" | wc -l)
cat >"$CALLS/$number.body"
echo "$*" >"$CALLS/$number.words"
case "$*" in *PUT*) exit 22 ;; esac
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is missing"),
]


@pytest.fixture
def folder(tmp_path: Path, trainyard: Command) -> Path:
    """The compiled folder, with stand-ins for what the script calls beside kubectl."""
    (tmp_path / "spec.yaml").write_text(SPEC.read_text())
    assert trainyard("compile", "spec.yaml", cwd=tmp_path).code == 0
    for name, text in (("aws", AWS), ("curl", CURL)):
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(text)
        program.chmod(0o755)
    (tmp_path / "calls").mkdir()
    return tmp_path


def run(folder: Path, **env: str) -> subprocess.CompletedProcess[str]:
    script = folder / "generated" / "observed-by-aws" / "bootstrap" / "dashboards.sh"
    known = {
        **os.environ,
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
        "CALLS": str(folder / "calls"),
        "KUBECONFIG": "/nonexistent",
        **env,
    }
    return subprocess.run(["bash", str(script)], capture_output=True, text=True, env=known)


def test_each_dashboard_and_the_source_that_it_asks_are_brought(folder: Path) -> None:
    done = run(folder)
    assert done.returncode == 0, done.stderr
    bodies = [json.loads(path.read_text()) for path in (folder / "calls").glob("*.body")]
    sources = [body for body in bodies if "dashboard" not in body]
    assert {source["uid"] for source in sources} == {"prometheus"}
    brought = {body["dashboard"]["uid"] for body in bodies if "dashboard" in body}
    made = (folder / "generated" / "observed-by-aws" / "monitoring").glob("*configmap-dashboard-*")
    subjects = {path.stem.rpartition("configmap-dashboard-")[2] for path in made}
    assert brought == {f"trainyard-{subject}" for subject in subjects}
    words = [path.read_text() for path in (folder / "calls").glob("*.words")]
    assert not [line for line in words if "T0KEN" in line]
    assert "--service-account-id 7" in (folder / "calls" / "deleted").read_text()


def test_without_a_workspace_it_says_how_to_make_one(folder: Path) -> None:
    done = run(folder, WORKSPACE="None")
    assert done.returncode == 1
    assert "up.sh --from parts" in done.stderr
    assert not list((folder / "calls").iterdir())
