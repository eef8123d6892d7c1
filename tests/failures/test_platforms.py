"""What each platform says of failures that differ there."""

from __future__ import annotations

import pytest
from builders import ROOT
from platforms.hyperpod.clusters import spec as hyperpod
from platforms.parallelcluster.clusters import spec as slurm
from trainyard.extensions.forecast.failures.footing import From
from trainyard.extensions.forecast.failures.outcome import Failure, Outcome
from trainyard.extensions.forecast.failures.parts import added
from trainyard.extensions.forecast.sections.failures import walks
from trainyard.extensions.forecast.subjects import subject
from trainyard.run.driver import check
from trainyard.run.outcome import Options

from failures.walking import outcomes, walk


def parts(outcome: Outcome) -> dict[str, tuple[float, float | None]]:
    return {part.name: (part.least, part.most) for part in outcome.parts}


# --- ParallelCluster


def test_slurm_looks_for_a_silent_node() -> None:
    """Down after 180 s, found within 60 more; torchrun leaves its ranks 30 s; DCGM tests for 120 s before
    each job, and one that is back in its queue waits for 70."""
    lost = outcomes(slurm())[Failure.NODE]
    known = parts(lost)
    assert known["notice"] == (0, 180)
    assert known["processes end"] == (30, 60)
    assert known["new node"] == (0, 900)
    assert known["test of GPUs"] == (120, 120)
    assert known["queue"] == (70, 70)
    assert lost.resumes is From.CHECKPOINT
    assert "Slurm puts it back into its queue" in lost.acts
    own = {"customSlurmSettings": {"SlurmdTimeout": 600}}
    assert parts(outcomes(slurm(own=own))[Failure.NODE])["notice"] == (0, 600)


def test_slurm_leaves_a_job_that_is_not_tried_again() -> None:
    """One node has no peers that notice, and Slurm starts nothing without `retries`."""
    job = {"nodes": 1, "retries": 0}
    lost = outcomes(slurm(job=job))[Failure.NODE]
    assert "its peers by an error at once" not in lost.notices
    assert "nothing starts it again" in lost.acts
    assert "its peers by an error at once" in outcomes(slurm())[Failure.NODE].notices


def test_after_a_block_slurm_starts_a_job_on_its_next_pool() -> None:
    block = {
        "reservations": [{"id": "cr-0a1b2c3d4e5f60718"}],
        "starts": "2026-12-01T11:30:00Z",
        "ends": "2026-12-03T11:30:00Z",
    }
    data = slurm(pool={"capacity": {"block": block}}, job={"pool": ["a100", "later"]})
    later = {**data["spec"]["nodePools"][0], "name": "later", "capacity": {"onDemand": {}}}
    data["spec"]["nodePools"].append(later)
    quota = [{"pool": name, "nodes": 4} for name in ("a100", "later")]
    data["spec"]["queues"] = [{"name": "q", "namespaces": ["training"], "quota": quota}]
    assert outcomes(data)[Failure.BLOCK].needs == "nodes of pool later"


def test_dcgm_finds_a_sick_gpu_before_the_next_start() -> None:
    found = outcomes(slurm())
    assert "DCGM's test before each job drains the node" in found[Failure.REPLACE].acts
    assert "new node" in parts(found[Failure.RESET])
    assert "new node" not in parts(found[Failure.PROGRAM])


def test_only_gpus_of_nvidia_have_xids() -> None:
    trainium = {"instanceTypes": ["trn1.32xlarge"], "zones": ["us-west-2b"]}
    found = outcomes(slurm(pool=trainium, job={"command": ["srun", "train.py"]}))
    assert Failure.NODE in found
    assert not {Failure.PROGRAM, Failure.RESET, Failure.REPLACE} & found.keys()


def test_a_job_that_leaves_is_cancelled() -> None:
    """With the 300 seconds that the cluster's KillWait gives it; or those that the spec does."""
    found = outcomes(slurm())[Failure.LEAVES]
    assert found.resumes is From.NOTHING
    assert "SIGKILL after 5m" in found.acts
    assert found.repeated == (0, 1800)
    own = {"customSlurmSettings": {"KillWait": 60}}
    assert "SIGKILL after 1m" in outcomes(slurm(own=own))[Failure.LEAVES].acts


def test_runs_go_on_without_the_head_node() -> None:
    found = outcomes(slurm())[Failure.CONTROLLER]
    assert found.is_harmless
    assert "nothing is put back into a queue" in found.acts


def test_another_version_is_another_cluster() -> None:
    found = outcomes(slurm())[Failure.UPGRADE]
    assert found.resumes is From.NOTHING
    assert found.of.startswith("parallelcluster 3.")
    # It is made when no job runs.
    assert found.repeated == (0, 0)


def test_others_of_a_partition_may_start_first() -> None:
    data = slurm()
    jobs = data["spec"]["jobs"]
    jobs.append({**jobs[0], "name": "second", "checkpoint": {"path": "/work/second"}})
    queue = parts(walk(data)[0][1][0])["queue"]
    assert queue == (70, None)


def test_nobody_tells_a_program_on_slurm_that_its_block_ends() -> None:
    block = {
        "reservations": [{"id": "cr-0a1b2c3d4e5f60718"}],
        "starts": "2026-12-01T11:30:00Z",
        "ends": "2026-12-03T11:30:00Z",
    }
    found = outcomes(slurm(pool={"capacity": {"block": block}}))[Failure.BLOCK]
    assert found.notices == "nobody, before EC2 takes the instances, 30m before the block's end"
    assert found.repeated == (900, 1800)


# --- HyperPod


def test_how_soon_hyperpod_replaces_a_node_is_not_known() -> None:
    found = outcomes(hyperpod())[Failure.REPLACE]
    assert parts(found)["new node"] == (0, None)
    assert "how soon AWS does not publish" in found.acts
    assert "HyperPod starts the job again after that, 2 times at most" in found.acts
    assert "HyperPod's health-monitoring agent" in found.notices
    assert "deep health checks" not in parts(found)


def test_hyperpod_leaves_a_job_that_is_not_tried_again() -> None:
    found = outcomes(hyperpod(job={"retries": 0}))[Failure.REPLACE]
    assert "HyperPod starts the job again" not in found.acts
    assert "nothing starts it again" in found.acts


def test_new_nodes_of_hyperpod_are_tested() -> None:
    found = outcomes(hyperpod(own={"deepHealthChecks": ["InstanceStress"]}))[Failure.REPLACE]
    assert parts(found)["deep health checks"] == (0, None)


def test_hyperpod_may_leave_sick_nodes() -> None:
    found = outcomes(hyperpod(own={"nodeRecovery": "None"}, job={"retries": 0}))[Failure.RESET]
    assert "batch-replace-cluster-nodes" in found.acts


def test_upgrades_of_hyperpod_are_those_of_its_chart() -> None:
    _, found = walk(hyperpod())[0]
    names = [each.of.split()[0] for each in found if each.failure is Failure.UPGRADE]
    assert names == ["hyperpod-helm-chart", "kueue"]


# --- all of them


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["jakarta", "jakarta-slurm.yaml", "hyperpod-lora.yaml", "two-teams.yaml"]
)
def test_the_walk_of_a_whole_spec(name: str) -> None:
    options = Options()
    done = check([ROOT / "tests" / "example" / "specs" / name], options, current=lambda _: None)
    for compilation in done.compilations:
        for each in walks(subject(compilation, options)):
            found = [outcome.failure for outcome in each.outcomes]
            order = list(Failure)
            assert found == sorted(found, key=order.index)
            assert {Failure.NODE, Failure.ZONE, Failure.LEAVES, Failure.UPGRADE} <= set(found)
            for outcome in each.outcomes:
                _is_sound(outcome)
            assert each.week is not None


def _is_sound(outcome: Outcome) -> None:
    """Its time is the sum of its parts, and it costs nothing where the job runs on."""
    if outcome.span is not None:
        assert outcome.span == added(outcome.parts)
        assert outcome.span.least <= outcome.span.most
    hours = outcome.node_hours
    if hours is not None:
        assert hours[0] <= hours[1]
        assert hours == (0, 0) or not outcome.is_harmless
