"""Edits of managed node groups that stay without effect until the group is recreated."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from builders import spec
from running import Command

from history.folder import codes, compiled

pytestmark = pytest.mark.slow


def grouped(**pool: Any) -> dict[str, Any]:
    return spec(jobs=[], pool={"nodes": 4, "managedNodeGroup": {}, **pool})


@pytest.mark.parametrize(
    ("pool", "line"),
    [
        ({"rootVolume": {"size": "400Gi"}}, "volumeSize"),
        ({"efa": False}, "efaEnabled"),
        ({"instanceTypes": ["p4de.24xlarge"]}, "instanceTypes"),
    ],
)
def test_what_eks_does_not_change_is_said(
    pool: dict[str, Any], line: str, trainyard: Command, tmp_path: Path
) -> None:
    compiled(tmp_path, trainyard, grouped())
    done = compiled(tmp_path, trainyard, grouped(**pool))
    assert "CHG027" in codes(done)
    assert f"keeps its `{line}`" in done.out
    assert done.code == 0


@pytest.mark.parametrize(
    "pool",
    [
        {"nodes": 6},
        {"labels": {"example.com/team": "research"}},
        {"managedNodeGroup": {"nodeRepairConfig": {"maxParallelNodesRepairedCount": 1}}},
    ],
)
def test_what_eks_changes_is_silent(
    pool: dict[str, Any], trainyard: Command, tmp_path: Path
) -> None:
    compiled(tmp_path, trainyard, grouped())
    done = compiled(tmp_path, trainyard, grouped(**pool))
    assert "CHG027" not in codes(done)
