"""Runs that the spec says have ended, though nobody has looked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from builders import FSX, spec
from running import Command

from history.folder import QUEUES, SECOND_POOL, compiled, only_object

pytestmark = pytest.mark.slow

STORAGE = [
    {"name": "fsx", "fsxLustre": {"existing": {**FSX, "zone": "us-west-2b", "version": "2.15"}}}
]
MOUNT = {"mounts": [{"storage": "fsx", "path": "/data"}]}


def _marked(out: str, code: str = "CHG048") -> str:
    """The line of the spec at which a finding stands."""
    place = out.partition(f"[{code}]")[2].partition(" | ")[2]
    return place.partition("\n")[0].strip()


def test_a_job_that_is_said_to_be_done_says_what_goes_on(
    tmp_path: Path, trainyard: Command
) -> None:
    assert compiled(tmp_path, trainyard, spec()).code == 0
    done = compiled(tmp_path, trainyard, spec(job={"completed": True}))
    assert done.code == 0
    assert "note[CHG048]: run `train-" in done.out
    assert _marked(done.out) == "completed: true"
    assert "= help: look first: `kubectl get trainjob train-" in done.out
    again = trainyard("check", "spec.yaml", cwd=tmp_path)
    assert "CHG048" not in again.out  # it is said once, of the edit


@pytest.mark.parametrize("keep", [True, False])
def test_storage_that_leaves_with_it_is_a_warning(
    keep: bool, tmp_path: Path, trainyard: Command
) -> None:
    assert compiled(tmp_path, trainyard, spec(job=MOUNT, storage=STORAGE)).code == 0
    parts: dict[str, Any] = {"storage": STORAGE} if keep else {}
    job = {"completed": True, **(MOUNT if keep else {})}
    done = compiled(tmp_path, trainyard, spec(job=job, **parts))
    level = "note" if keep else "warning"
    assert f"{level}[CHG048]" in done.out
    assert ("storage `fsx` leaves the spec" in done.out) is not keep


def test_a_queue_that_comes_back_before_its_run_has_ended(
    tmp_path: Path, trainyard: Command
) -> None:
    pools = {"nodePools": [*spec()["spec"]["nodePools"], SECOND_POOL]}
    with_job = spec(job={"queue": "research"}, queues=QUEUES, **pools)
    assert compiled(tmp_path, trainyard, with_job).code == 0
    run = only_object(tmp_path, "train")
    ended = spec(jobs=None, queues=QUEUES, completedRuns=[run], **pools)
    said = compiled(tmp_path, trainyard, ended)
    assert said.code == 0
    assert run in _marked(said.out)
    gone = spec(jobs=None, queues=QUEUES[1:], completedRuns=[run], **pools)
    assert compiled(tmp_path, trainyard, gone).code == 0
    back = spec(jobs=None, queues=QUEUES, completedRuns=[run], **pools)
    done = compiled(tmp_path, trainyard, back)
    assert done.code == 0
    assert "warning[CHG049]: queue `research` is added again" in done.out
    assert "name: research" in _marked(done.out, "CHG049")
    assert "CHG049" not in trainyard("check", "spec.yaml", cwd=tmp_path).out


def test_a_pool_that_comes_back_before_its_run_has_ended(
    tmp_path: Path, trainyard: Command
) -> None:
    pools = spec()["spec"]["nodePools"]
    job = {"pool": "cpu", "nodes": 1}
    assert compiled(tmp_path, trainyard, spec(job=job, nodePools=[*pools, SECOND_POOL])).code == 0
    run = only_object(tmp_path, "train")
    ended = {"jobs": None, "completedRuns": [run]}
    assert compiled(tmp_path, trainyard, spec(nodePools=[*pools, SECOND_POOL], **ended)).code == 0
    assert compiled(tmp_path, trainyard, spec(nodePools=pools, **ended)).code == 0
    done = compiled(tmp_path, trainyard, spec(nodePools=[*pools, SECOND_POOL], **ended))
    assert done.code == 0
    assert "warning[CHG049]: pool `cpu` is added again" in done.out
    assert "name: cpu" in _marked(done.out, "CHG049")
    assert "`kubectl get ec2nodeclass cpu`" in done.out
    assert "CHG049" not in trainyard("check", "spec.yaml", cwd=tmp_path).out


def test_a_run_that_is_replaced_goes_on_if_it_was_pushed(
    tmp_path: Path, trainyard: Command
) -> None:
    assert compiled(tmp_path, trainyard, spec()).code == 0
    compiled(tmp_path, trainyard, spec())
    (tmp_path / "spec.yaml").write_text(
        (tmp_path / "spec.yaml").read_text().replace("nodes: 4", "nodes: 3", 1)
    )
    done = trainyard("compile", "spec.yaml", "--replace", "train", cwd=tmp_path)
    assert "and goes on beside the new one unless it was never pushed" in done.out
