"""What becomes of a job after each failure: times that can be added up by hand."""

from __future__ import annotations

from typing import Any

import pytest
from builders import spec
from trainyard.catalog import load_catalog
from trainyard.eks.jobs.plan import TrainJob
from trainyard.extensions.forecast.blocks import Explained
from trainyard.extensions.forecast.failures.footing import From
from trainyard.extensions.forecast.failures.outcome import Failure, Outcome
from trainyard.extensions.forecast.failures.parts import added
from trainyard.extensions.forecast.failures.xids import source
from trainyard.extensions.forecast.sections.failures import repeats

from failures.walking import READ, STORAGE, outcomes, saving, walk

RANKS_GO, NODE, IMAGE, START = 510, 900, 600, 60
"""Seconds: 510 in which hung pods of a job end that takes 210 to save, 15 minutes for a node, 10 for its image."""


def seconds(outcome: Outcome) -> tuple[float, float]:
    assert outcome.span is not None
    return round(outcome.span.least), round(outcome.span.most)


def parts(outcome: Outcome) -> dict[str, tuple[float, float | None]]:
    return {part.name: (part.least, part.most) for part in outcome.parts}


def test_a_lost_node_with_a_checkpoint() -> None:
    """NotReady after 50 s, evicted 300 s later, replaced 30 minutes after NotReady: 1850 s, of which 350 are before."""
    lost = outcomes(saving())[Failure.NODE]
    known = parts(lost)
    assert known["notice"] == (0, 350)
    assert known["processes end"] == (RANKS_GO, 1850 - 350)
    assert known["new node"] == (0, NODE)
    assert known["image"] == (0, IMAGE)
    assert lost.resumes is From.CHECKPOINT
    assert lost.repeated == (900, 1800)
    assert seconds(lost) == (
        round(RANKS_GO + START + READ),
        round(1850 + NODE + IMAGE + START + READ),
    )
    # Pods are missing for 1500 + 900 + 600 s, and Kueue waits 35 minutes.
    assert lost.span is not None
    assert lost.span.unknown == ("admission",)


def test_a_lost_node_without_a_checkpoint() -> None:
    """Nothing is mounted, so it begins at step 0. Without `expected` nobody knows how much that repeats."""
    lost = outcomes(spec())[Failure.NODE]
    assert lost.resumes is From.START
    assert lost.repeated is None
    assert lost.node_hours is None
    assert "checkpoint is read" not in parts(lost)
    assert seconds(lost)[0] == 60 + START
    known = outcomes(spec(job={"expected": "10h"}))[Failure.NODE]
    assert known.repeated == (5 * 3600, 10 * 3600)
    # Four nodes: two minutes until the first new step, and five hours of work.
    assert known.node_hours is not None
    assert round(known.node_hours[0], 3) == round(4 * (120 + 5 * 3600) / 3600, 3)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (
            spec(job={"expected": "10h"}),
            "5h, 10h at most (half of the job, and all of it (expected))",
        ),
        (saving(), "15m, 30m at most (half an interval, and a whole one (`checkpoint.every`))"),
    ],
)
def test_what_is_done_again_is_said_with_its_reason(data: dict[str, Any], said: str) -> None:
    lost = repeats(outcomes(data)[Failure.NODE])
    assert isinstance(lost, Explained)
    assert f"{lost.text} ({lost.why})" == said


@pytest.mark.parametrize(("spare", "says"), [(0, False), (2, True)])
def test_spare_nodes_of_a_pool_are_named(spare: int, says: bool) -> None:
    pool = {"nodes": {"max": 12}, "spareNodes": spare}
    [new] = [
        each for each in outcomes(saving(pool=pool))[Failure.NODE].parts if each.name == "new node"
    ]
    assert ("the pool has 2 spare" in new.why) is says


def test_a_timeout_is_no_length() -> None:
    """A job may end long before it, so half of it is no work that is repeated."""
    lost = outcomes(spec(job={"timeout": "10h"}))[Failure.NODE]
    assert lost.repeated is None


def test_a_gpu_that_is_replaced() -> None:
    """The watchdog ends a hang after 600 s, when Karpenter replaces the node too; pods that hang have 510 s."""
    found = outcomes(saving())
    for failure in (Failure.RESET, Failure.REPLACE):
        assert seconds(found[failure]) == (
            round(RANKS_GO + START + READ),
            round(600 + RANKS_GO + NODE + IMAGE + START + READ),
        )
        assert found[failure].span == added(found[failure].parts)
        assert "Karpenter replaces the node after 10m" in found[failure].acts


def test_an_xid_of_the_program_takes_no_node_away() -> None:
    found = outcomes(saving())[Failure.PROGRAM]
    assert not {"new node", "image"} & parts(found).keys()
    assert "Karpenter" not in found.acts
    assert seconds(found) == (round(RANKS_GO + START + READ), round(600 + RANKS_GO + START + READ))


def test_torchrun_starts_ranks_again_without_a_new_pod() -> None:
    found = outcomes(saving({"maxRestarts": 2}))
    assert parts(found[Failure.PROGRAM])["processes end"] == (0, RANKS_GO)
    assert "torchrun starts the ranks again, 2 times at most" in found[Failure.PROGRAM].acts
    over = outcomes(saving({"maxRestarts": 2, "retries": 0}))
    assert over[Failure.PROGRAM].resumes is From.CHECKPOINT
    assert over[Failure.NODE].resumes is From.NOTHING


def test_without_retries_a_job_is_over() -> None:
    found = outcomes(saving({"retries": 0, "maxRestarts": 0}))
    for failure in (Failure.NODE, Failure.PROGRAM, Failure.REPLACE, Failure.ZONE):
        assert found[failure].resumes is From.NOTHING
        assert found[failure].span is None
    assert found[Failure.LEAVES].resumes is From.RUNS_ON


def test_a_single_node_has_no_peers_that_notice() -> None:
    """NotReady after 50 seconds, and evicted 300 later."""
    found = outcomes(spec(job={"nodes": 1}))
    assert parts(found[Failure.NODE])["notice"] == (50, 350)
    assert parts(found[Failure.NODE])["processes end"] == (0, 1500)
    assert parts(found[Failure.REPLACE])["processes end"] == (0, 60)


@pytest.mark.parametrize(
    ("health", "says"),
    [
        ({"nodeRepair": False}, "nobody replaces a sick node: `health.nodeRepair` is off"),
        ({"nodeMonitoringAgent": False}, "nobody sees that a GPU is sick"),
    ],
)
def test_a_node_that_nobody_replaces(health: dict[str, bool], says: str) -> None:
    found = outcomes(saving(health=health))[Failure.REPLACE]
    assert says in found.acts
    assert parts(found)["new node"] == (0, None)
    assert found.span is not None
    assert "new node" in found.span.unknown


def test_a_silent_node_that_nobody_replaces_keeps_the_gang_waiting() -> None:
    found = outcomes(saving(health={"nodeRepair": False}))[Failure.NODE]
    assert parts(found)["processes end"] == (RANKS_GO, None)


def group(**override: Any) -> dict[str, Any]:
    overrides = {"nodeMonitoringCondition": "AcceleratedHardwareReady", **override}
    config = {"nodeRepairConfigOverrides": [overrides]} if override else {}
    return {"nodes": 4, "managedNodeGroup": {"nodeRepairConfig": config}}


def test_a_node_group_follows_its_own_times() -> None:
    """An hour instead of ten minutes for Xid 79, which is of those that replace a node: 3600 s, less 600 of notice."""
    slow = {
        "nodeUnhealthyReason": "NvidiaXID79Error",
        "minRepairWaitTimeMins": 60,
        "repairAction": "Replace",
    }
    found = outcomes(saving(pool=group(**slow)))
    assert parts(found[Failure.REPLACE])["processes end"] == (RANKS_GO, 3000)
    assert parts(found[Failure.RESET])["processes end"] == (RANKS_GO, RANKS_GO)
    assert "EKS replaces the node after 1h" in found[Failure.REPLACE].acts
    nothing = outcomes(saving(pool=group(**{**slow, "repairAction": "NoAction"})))
    assert parts(nothing[Failure.REPLACE])["new node"] == (0, None)
    off = {"nodes": 4, "managedNodeGroup": {"nodeRepairConfig": {"enabled": False}}}
    assert "nobody replaces a sick node" in outcomes(saving(pool=off))[Failure.RESET].acts


def test_what_a_node_group_is_told_of_other_conditions_says_nothing_of_xids() -> None:
    network = {
        "nodeMonitoringCondition": "NetworkingReady",
        "nodeUnhealthyReason": "IPAMDNotReady",
        "minRepairWaitTimeMins": 60,
        "repairAction": "NoAction",
    }
    plain, told = outcomes(saving(pool=group())), outcomes(saving(pool=group(**network)))
    for failure in (Failure.RESET, Failure.REPLACE):
        assert parts(told[failure]) == parts(plain[failure])


def test_who_repairs_and_tests_the_nodes_of_another_pool_does_not_matter() -> None:
    data = saving(job={"pool": "gpu"})
    first = data["spec"]["nodePools"][0]
    off = {"nodeRepairConfig": {"enabled": False}}
    others = [
        {**first, "name": "group", "nodes": 4, "managedNodeGroup": off},
        {**first, "name": "tested", "burnIn": {"diagnostics": {"level": 3}}},
    ]
    alone = outcomes(data)
    data["spec"]["nodePools"] = [*others, first]
    for failure in (Failure.NODE, Failure.RESET, Failure.REPLACE):
        found = outcomes(data)[failure]
        assert found.acts == alone[failure].acts
        # Kueue's `recoveryTimeout` is one of the cluster.
        without = {"admission": (0, 0)}
        assert {**parts(found), **without} == {**parts(alone[failure]), **without}


def test_a_new_node_is_tested_first() -> None:
    """`burnIn` at level 3 takes 15 minutes more."""
    found = outcomes(saving(pool={"burnIn": {"diagnostics": {"level": 3}}}))[Failure.REPLACE]
    assert parts(found)["new node"] == (0, NODE + 900)


def test_kueue_gives_up_where_pods_are_missing_for_too_long() -> None:
    patient = {"waitForPodsReady": {"recoveryTimeout": "2h"}}
    found = outcomes(saving(kueue=patient))[Failure.NODE]
    assert parts(found)["admission"] == (0, 0)
    assert found.span is not None
    assert found.span.unknown == ()


def test_how_long_a_checkpoint_is_read_is_known_by_its_model_alone() -> None:
    known = parts(outcomes(saving())[Failure.NODE])["checkpoint is read"]
    assert known == (READ, READ)
    unknown = parts(outcomes(saving(job={"model": None}))[Failure.NODE])["checkpoint is read"]
    assert unknown == (0, None)


def test_kueue_may_wait_for_ever() -> None:
    """`recoveryTimeout: 0s` turns its watch off: a job keeps its quota, also in a zone or block that is gone."""
    never = {"waitForPodsReady": {"recoveryTimeout": "0s"}}
    found = outcomes(saving(kueue=never))
    (admission,) = (part for part in found[Failure.NODE].parts if part.name == "admission")
    assert admission.why == "nothing takes its quota away while pods are missing"
    assert "Kueue puts it back" not in found[Failure.ZONE].acts
    assert "Kueue puts it back into its queue" in outcomes(saving())[Failure.ZONE].acts


def zoned(zone: str | None) -> list[dict[str, Any]]:
    existing = {**STORAGE[0]["fsxLustre"]["existing"]}  # type: ignore[index]
    if zone is not None:
        existing["zone"] = zone
    return [{"name": "data", "fsxLustre": {"existing": existing}}]


def test_a_lost_zone() -> None:
    """One zone: nothing but that zone helps. Its nodes are gone, so that only work that is repeated costs."""
    found = outcomes(saving())[Failure.ZONE]
    assert found.of == "us-west-2b"
    assert found.needs == "us-west-2b again: no pool of the job has another zone"
    assert found.span is not None
    assert found.span.unknown == ("capacity",)
    assert found.node_hours == (4 * 900 / 3600, 4 * 1800 / 3600)


def test_another_zone_helps_unless_checkpoints_lie_in_the_lost_one() -> None:
    pools = {"zones": ["us-west-2b", "us-west-2c"], "efa": False}
    data = saving(pool=pools)
    data["spec"]["storage"] = zoned(None)
    assert outcomes(data)[Failure.ZONE].needs == "nodes of pool gpu in us-west-2c"
    data["spec"]["storage"] = zoned("us-west-2b")
    found = outcomes(data)[Failure.ZONE]
    assert found.needs == "zone us-west-2b again: its checkpoints lie there"


@pytest.mark.parametrize(
    ("ebs", "needs"),
    [
        (
            {"existing": {"id": "vol-0a1b2c3d4e5f60718", "zone": "us-west-2b", "size": "4Ti"}},
            "zone us-west-2b again: its checkpoints lie there",
        ),
        (
            {"create": {"each": "namespace", "size": "4Ti", "zone": "us-west-2b"}},
            "zone us-west-2b again: its checkpoints lie there",
        ),
        ({"create": {"each": "pod", "size": "4Ti"}}, "nodes of pool gpu in us-west-2c"),
    ],
)
def test_a_volume_stays_in_its_zone(ebs: dict[str, Any], needs: str) -> None:
    """Whatever other storage the spec has."""
    pool = {"zones": ["us-west-2b", "us-west-2c"], "efa": False}
    data = saving(pool=pool, job={"nodes": 1, "mounts": [{"storage": "disk", "path": "/data"}]})
    data["spec"]["storage"] = [*zoned("us-west-2c"), {"name": "disk", "ebs": ebs}]
    assert outcomes(data)[Failure.ZONE].needs == needs


BLOCK: dict[str, Any] = {
    "nodes": 4,
    "instanceTypes": ["p4d.24xlarge"],
    "capacity": {
        "block": {
            "reservations": [{"id": "cr-0a1b2c3d4e5f60718"}],
            "starts": "2026-12-01T11:30:00Z",
            "ends": "2026-12-03T11:30:00Z",
        }
    },
}


def test_a_block_that_ends() -> None:
    """Pods have as long as a drain lasts, 8 minutes at most: enough for 210 s, so that nothing may be repeated."""
    found = outcomes(saving(pool=BLOCK))[Failure.BLOCK]
    assert found.notices == "Karpenter, 40m before the block's end"
    assert "pods have 8m to save" in found.acts
    assert found.repeated == (0, 1800)
    assert found.node_hours == (0, 4 * 1800 / 3600)
    assert found.needs == "another block: pool gpu has no nodes then"
    without_time = {"block": {"reservations": BLOCK["capacity"]["block"]["reservations"]}}
    assert Failure.BLOCK in outcomes(saving(pool={**BLOCK, "capacity": without_time}))
    assert Failure.BLOCK not in outcomes(saving())


def test_a_block_of_a_node_group_ends() -> None:
    """EKS takes its nodes away, and says nowhere how often it looks."""
    found = outcomes(saving(pool={**BLOCK, "managedNodeGroup": {}}))[Failure.BLOCK]
    assert found.notices.startswith("EKS, ")


def test_a_zone_of_two_pools() -> None:
    """Other nodes of the pool, or those of the next one, which Kueue tries where the first has no zone left."""
    data = saving(job={"pool": ["gpu", "later"]})
    later = {**data["spec"]["nodePools"][0], "name": "later", "zones": ["us-west-2c"]}
    data["spec"]["nodePools"].append(later)
    quota = [{"pool": name, "nodes": 12} for name in ("gpu", "later")]
    data["spec"]["queues"] = [{"name": "q", "namespaces": ["training"], "quota": quota}]
    needs = outcomes(data)[Failure.ZONE].needs
    assert needs.startswith("nodes of pool later in us-west-2c")
    assert needs != "nodes of pool later in us-west-2c"


def test_pods_that_say_no_grace_period_have_that_of_kubernetes() -> None:
    """A runtime of Trainer's release says none: 30 seconds (core/v1, PodSpec)."""
    data = saving(pool=BLOCK, job={"runtime": "torch-distributed"})
    assert "pods have 30s to save" in outcomes(data)[Failure.BLOCK].acts


def test_a_block_ends_before_a_checkpoint_is_written() -> None:
    """1,200 GiB at 125 MB/s write 980 GB in 6,690 s; of half an hour of work a half is repeated on average."""
    data = saving(pool=BLOCK)
    slow = {**STORAGE[0]["fsxLustre"]["existing"], "size": "1200Gi"}  # type: ignore[index]
    data["spec"]["storage"] = [{"name": "data", "fsxLustre": {"existing": slow}}]
    data["spec"]["jobs"][0]["checkpoint"]["every"] = "8h"
    assert outcomes(data)[Failure.BLOCK].repeated == (4 * 3600, 8 * 3600)


def test_after_a_block_the_next_pool_of_the_queue() -> None:
    """Kueue tries it when pods have been missing for 35 minutes."""
    data = saving(pool={**BLOCK, "nodes": {"max": 4}})
    other = {
        "name": "later",
        "instanceTypes": ["p4d.24xlarge"],
        "zones": ["us-west-2b"],
        "nodes": {"max": 4},
    }
    data["spec"]["nodePools"].append(other)
    quota = [{"pool": "gpu", "nodes": 4}, {"pool": "later", "nodes": 4}]
    data["spec"]["queues"] = [{"name": "all", "namespaces": ["training"], "quota": quota}]
    data["spec"]["jobs"][0]["pool"] = ["gpu", "later"]
    found = outcomes(data)[Failure.BLOCK]
    assert found.needs.startswith("nodes of pool later, and `nodes: 0` in the quota of pool gpu")
    assert parts(found)["admission"] == (35 * 60, None)


def test_flux_leaves_a_run_alone() -> None:
    found = outcomes(saving())[Failure.LEAVES]
    assert isinstance(found.job.gang, TrainJob)
    assert not found.job.gang.prune
    assert found.is_harmless
    assert found.node_hours == (0, 0)
    assert "Flux leaves the run alone" in found.acts


def test_upgrades_are_those_of_the_controllers_of_a_job() -> None:
    def upgraded(data: dict[str, Any]) -> list[str]:
        _, found = walk(data)[0]
        return [each.of.split()[0] for each in found if each.failure is Failure.UPGRADE]

    assert upgraded(spec()) == ["trainer", "jobset", "kueue"]
    assert upgraded(spec(job={"kind": "JobSet"})) == ["jobset", "kueue"]
    assert upgraded(spec(job={"kind": "PyTorchJob"})) == ["training-operator", "kueue"]
    ray = {"kind": "RayJob", "command": ["python", "t.py"]}
    assert upgraded(spec(job=ray)) == ["kuberay-operator", "kueue"]


def test_pods_that_do_not_talk_stop_alone() -> None:
    """Of four nodes one stops: NotReady after 50 s, a minute to start, and half of ten hours again."""
    job, found = walk(spec(job={"kind": "Job", "command": ["python", "t.py"], "expected": "10h"}))[
        0
    ]
    assert (job.nodes, job.stopped, job.retries) == (4, 1, 10)
    lost = next(each for each in found if each.failure is Failure.NODE)
    assert lost.node_hours is not None
    assert lost.node_hours[0] == (50 + START + 5 * 3600) / 3600


def test_an_operator_may_mend_a_job_that_runs_on() -> None:
    ray = outcomes(spec(job={"kind": "RayJob", "command": ["python", "t.py"]}))
    assert "KubeRay recreates a lost worker" in ray[Failure.NODE].acts
    assert "else restarts of all pods together, as a new RayCluster" in ray[Failure.NODE].acts


def test_a_pytorch_job_counts_the_restarts_of_pods() -> None:
    job, _ = walk(saving({"kind": "PyTorchJob", "retries": 5}))[0]
    assert job.retries == 5


def test_nodes_without_gpus_have_no_xids() -> None:
    cpu = {"instanceTypes": ["m7i.16xlarge"], "zones": ["us-west-2a"]}
    found = outcomes(spec(pool=cpu))
    assert not {Failure.PROGRAM, Failure.RESET, Failure.REPLACE} & found.keys()
    assert "NCCL" not in found[Failure.NODE].notices


def test_every_part_says_why() -> None:
    for outcome in walk(saving(pool=BLOCK))[0][1]:
        assert outcome.notices
        assert outcome.acts
        assert outcome.source, outcome.title
        for part in outcome.parts:
            assert part.why, part.name
            assert part.most is None or part.least <= part.most, part


def test_who_published_the_xids_of_each_class() -> None:
    """Those of programs are NVIDIA's own list; those of hardware are the agent's and NVIDIA's advice."""
    catalog = load_catalog()
    lists = catalog.xids.lists
    of_programs = source(catalog, Failure.PROGRAM)
    assert lists["application"].source in of_programs
    assert lists["node-monitoring-agent"].source not in of_programs
    for failure in (Failure.RESET, Failure.REPLACE):
        said = source(catalog, failure)
        assert lists["node-monitoring-agent"].source in said
        assert lists["nvidia"].source in said
