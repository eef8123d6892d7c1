"""Specs of what happens to teams: each is clean, and what must be so for it to end well is held."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from running import Command
from trainyard.eks.jobs.plan import TrainJob, runtime_of
from trainyard.eks.kueue.plan import ClusterQueue, QueueManager
from trainyard.eks.nodes.plan import NodePool
from trainyard.plan import Plan
from trainyard.run.driver import check
from trainyard.run.outcome import Compilation, Options

FOLDER = Path(__file__).parent / "scenarios"
SPECS = sorted(FOLDER.glob("*.yaml"))
TWENTY_MINUTES = 20 * 60


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS, ids=lambda path: path.stem)
def test_each_is_clean_to_the_last_note(spec: Path, tmp_path: Path, trainyard: Command) -> None:
    (tmp_path / "spec.yaml").write_text(spec.read_text())
    done = trainyard("compile", "spec.yaml", cwd=tmp_path)
    assert (done.code, done.out) == (0, "")
    assert trainyard("compile", "--check", "spec.yaml", cwd=tmp_path).code == 0


def compiled(path: Path) -> Compilation:
    (done,) = check([path], Options()).compilations
    return done


def plan_of(name: str) -> Plan:
    plan = compiled(FOLDER / f"{name}.yaml").plan
    assert plan is not None
    return plan


def test_a_lost_gpu_leaves_time_for_another_node() -> None:
    """Node repair waits ten minutes, and Karpenter and the image take some more: nobody gives up before."""
    plan = plan_of("gpu-lost-in-a-gang")
    (manager,) = plan.of(QueueManager)
    assert manager.pods_ready is not None
    assert manager.pods_ready.seconds >= TWENTY_MINUTES
    assert manager.recovery is None or manager.recovery.seconds >= TWENTY_MINUTES
    (job,) = plan.of(TrainJob)
    env = {variable.name: variable.value for variable in job.env}
    settings = dict(item.split("=") for item in (env["PET_RDZV_CONF"] or "").split(",") if item)
    assert int(settings["join_timeout"]) >= TWENTY_MINUTES


def test_a_lost_gpu_frees_no_quota_for_another_gang() -> None:
    """All ten nodes are the gang's: what else is in the queue fits on none of them."""
    plan = plan_of("gpu-lost-in-a-gang")
    (job,) = plan.of(TrainJob)
    (queue,) = plan.of(ClusterQueue)
    (pool,) = plan.of(NodePool)
    assert job.nodes == 10
    assert queue.cohort is None
    assert pool.consolidate_after != "0s"


def test_a_run_leaves_its_bad_node_out_and_has_nodes_enough() -> None:
    plan = plan_of("run-without-a-bad-node")
    (job,) = plan.of(TrainJob)
    runtime = runtime_of(plan, job)
    assert runtime is not None
    pod = runtime.jobs[0].pod
    assert pod.excluded_nodes == ("ip-10-0-12-34.ap-northeast-2.compute.internal",)
    before = yaml.safe_load((FOLDER / "run-without-a-bad-node.yaml").read_text())
    assert job.nodes is not None
    assert before["spec"]["nodePools"][0]["nodes"] - len(pod.excluded_nodes) >= job.nodes


def test_without_a_spare_node_the_run_would_wait_for_ever(
    tmp_path: Path, trainyard: Command
) -> None:
    data = yaml.safe_load((FOLDER / "run-without-a-bad-node.yaml").read_text())
    del data["spec"]["nodePools"][0]["spareNodes"]
    data["spec"]["nodePools"][0]["nodes"] = 2
    (tmp_path / "spec.yaml").write_text(yaml.safe_dump(data))
    done = trainyard("check", "spec.yaml", cwd=tmp_path)
    assert done.code == 1
    assert "LIM003" in done.out or "RES061" in done.out


@pytest.mark.parametrize(
    "asked",
    [
        {"nodes": 4, "resources": {"accelerators": 1, "cpu": "11"}},
        {"nodes": 4, "resources": {"accelerators": 1, "cpu": "11", "efa": 0}},
    ],
)
def test_four_pods_with_a_gpu_each_are_warned_of(
    asked: dict[str, Any], tmp_path: Path, trainyard: Command
) -> None:
    data = yaml.safe_load((FOLDER / "four-gpus-of-a-node.yaml").read_text())
    data["spec"]["jobs"] = [{**data["spec"]["jobs"][0], **asked}]
    (tmp_path / "spec.yaml").write_text(yaml.safe_dump(data))
    done = trainyard("check", "spec.yaml", cwd=tmp_path)
    assert "warning[" in done.out or "error[" in done.out
