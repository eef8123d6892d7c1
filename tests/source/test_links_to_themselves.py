"""A link that leads to itself is no folder and no file: what lies beside it is read."""

from __future__ import annotations

from pathlib import Path

import pytest
from running import EXAMPLE, Command

SPEC = (EXAMPLE / "specs" / "starter.yaml").read_text()
JOB = "apiVersion: trainyard.dev/v1alpha1\nkind: TrainingJob\nmetadata: {name: second}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    home = tmp_path / "specs" / "starter"
    (home / "jobs").mkdir(parents=True)
    (home / "cluster.yaml").write_text(SPEC)
    (home / "jobs" / "second.yaml").write_text(
        JOB + "spec: {extends: hello, command: [torchrun, other.py]}\n"
    )
    for place in (home, home / "jobs", tmp_path / "specs"):
        (place / "round").symlink_to("round")
    return tmp_path


@pytest.mark.parametrize("path", ["specs", "specs/starter", "specs/starter/jobs/second.yaml"])
def test_specs_beside_it_are_read(path: str, folder: Path, trainyard: Command) -> None:
    done = trainyard("compile", path, cwd=folder)
    assert done.code == 0, done.out
    jobs = " ".join(each.name for each in (folder / "generated/starter/jobs").iterdir())
    assert "hello" in jobs
    assert "second" in jobs


def test_output_beside_it_is_read(folder: Path, trainyard: Command) -> None:
    assert trainyard("compile", cwd=folder).code == 0
    for place in ("generated", "generated/starter", "generated/starter/jobs"):
        (folder / place / "round").symlink_to("round")
    done = trainyard("check", cwd=folder)
    assert (done.code, "INT000" in done.out) == (0, False), done.out
