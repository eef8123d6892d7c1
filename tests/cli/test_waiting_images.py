"""What is said of the images that clusters wait for, at a run that changes another cluster."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from running import ROOT, Command

pytestmark = pytest.mark.slow


def test_nothing_is_said_again_of_clusters_that_a_run_does_not_change(
    tmp_path: Path, trainyard: Command
) -> None:

    shutil.copytree(ROOT / "specs/workshop", tmp_path / "specs/workshop")
    starter = (ROOT / "specs/starter.yaml").read_text()
    (tmp_path / "specs/starter.yaml").write_text(starter)
    first = trainyard("compile", "specs", cwd=tmp_path)
    assert "RES141" in first.out
    (tmp_path / "specs/starter.yaml").write_text(starter.replace("max: 2", "max: 4"))
    second = trainyard("compile", "specs", cwd=tmp_path)
    assert "RES141" not in second.out
    assert "generated/starter: " in second.out + second.err
    assert "RES141" in trainyard("check", "specs", cwd=tmp_path).out
    (tmp_path / "specs/starter.yaml").write_text(starter)
    assert "RES141" in trainyard("compile", "specs", "--verbose", cwd=tmp_path).out
