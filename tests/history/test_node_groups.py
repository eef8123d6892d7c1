"""Edits of managed node groups that stay without effect until the group is recreated."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from builders import spec
from running import Command

from history.folder import codes, compiled, only_object, runs

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


def test_a_group_that_is_new_or_was_edited_by_hand_keeps_nothing(
    trainyard: Command, tmp_path: Path
) -> None:
    compiled(tmp_path, trainyard, grouped())
    file = tmp_path / "generated" / "lab" / "bootstrap" / "nodegroups" / "gpu.yaml"
    text = file.read_text()
    for edited in ("", "managedNodeGroups: []\n", "managedNodeGroups: 3\n"):
        file.write_text(f"{text.partition('managedNodeGroups:')[0]}{edited}")
        done = compiled(tmp_path, trainyard, grouped(rootVolume={"size": "400Gi"}))
        assert (done.code, "CHG027" in codes(done)) == (0, False)
    file.unlink()
    done = compiled(tmp_path, trainyard, grouped())
    assert (done.code, "CHG027" in codes(done)) == (0, False)


RESERVED = {"reserved": {"reservations": [{"id": "cr-0a1b2c3d4e5f60718", "nodes": 4}]}}
LAUNCHES = {
    "onDemand": ({}, "on-demand"),
    "spot": ({"capacity": {"spot": {}}}, "spot"),
    "reserved": ({"capacity": RESERVED}, "reserved"),
}


@pytest.mark.parametrize(("pool", "capacity"), LAUNCHES.values(), ids=LAUNCHES)
def test_a_job_may_leave_a_group_that_stays_as_it_is(
    pool: dict[str, Any], capacity: str, trainyard: Command, tmp_path: Path
) -> None:
    """What its nodes were is noted beside the run."""
    on_group = {"nodes": 4, "managedNodeGroup": {}, **pool}
    assert compiled(tmp_path, trainyard, spec(pool=on_group)).code == 0
    name = only_object(tmp_path, "train")
    done = compiled(tmp_path, trainyard, spec(pool=on_group, jobs=[]))
    assert (done.code, "CHG003" in codes(done)) == (0, True), done.out
    assert runs(tmp_path)[name]["landing"] == {
        "instanceTypes": ["p4d.24xlarge"],
        "zones": ["us-west-2b"],
        "capacity": [capacity],
        "taints": ["nvidia.com/gpu=present:NoSchedule"],
        "efa": ["yes"],
    }


@pytest.mark.parametrize(
    ("edit", "lost"),
    [
        ({"instanceTypes": ["p5.48xlarge"]}, "instance type `p4d.24xlarge`"),
        ({"zones": ["us-west-2a"]}, "zone `us-west-2b`"),
        ({"capacity": {"spot": {}}}, "capacity `on-demand`"),
        ({"efa": False}, "EFA"),
        ({"taints": [{"key": "a", "effect": "NoSchedule"}]}, "freedom from taint `a:NoSchedule`"),
        ({"managedNodeGroup": None}, ""),  # Karpenter's nodes are like those of the group
    ],
)
def test_a_run_that_left_keeps_the_nodes_of_its_group(
    edit: dict[str, Any], lost: str, trainyard: Command, tmp_path: Path
) -> None:
    on_group = {"nodes": 4, "managedNodeGroup": {}}
    assert compiled(tmp_path, trainyard, spec(pool=on_group)).code == 0
    done = compiled(tmp_path, trainyard, spec(pool={**on_group, **edit}, jobs=[]))
    assert done.code == (1 if lost else 0), done.out
    assert (f"error[CHG001]: {lost} of pool `gpu` leaves the spec" in done.out) is bool(lost)
