"""What checkpoints take, how often they are best saved, and what a failure costs: figures counted by hand."""

from __future__ import annotations

from math import isclose, sqrt
from typing import Any

import pytest
from builders import FSX, job_of, plan_of, spec
from trainyard.catalog import load_catalog
from trainyard.core.jobs.plan import CheckpointSchedule
from trainyard.core.jobs.saving import KEPT, lasting

P4D: dict[str, Any] = {
    "instanceTypes": ["p4d.24xlarge"],
    "zones": ["us-west-2b"],
    "nodes": {"max": 8},
}
LLAMA_8B = {"parameters": 8.03e9, "sharding": "full"}
LLAMA_70B = {"parameters": 70e9, "sharding": "full"}


def lustre(**facts: Any) -> list[dict[str, Any]]:
    return [{"name": "data", "fsxLustre": {"existing": {**FSX, "version": "2.15", **facts}}}]


def schedule(
    storage: list[dict[str, Any]],
    model: dict[str, Any] | None = None,
    pool: dict[str, Any] | None = None,
    nodes: int = 4,
    **checkpoint: Any,
) -> CheckpointSchedule:
    data = spec(
        storage=storage,
        pool={**P4D, **(pool or {})},
        job={
            "nodes": nodes,
            "mounts": [{"storage": "data", "path": "/data"}],
            "checkpoint": {"path": "/data/run", **checkpoint},
            "model": model,
        },
    )
    (found,) = plan_of(data).of(CheckpointSchedule)
    return found


@pytest.mark.parametrize(
    ("facts", "write", "read"),
    [
        # 112 GB in 24 seconds; and in 16 minutes on scratch storage, which reads twice as fast.
        ({"size": "38400Gi", "throughputPerTiB": 125}, 24, 24),
        ({"size": "1200Gi", "deployment": "SCRATCH_2"}, 959, 480),
        ({"size": "1200Gi", "deployment": "SCRATCH_1", "mountName": "fsx"}, 480, 480),
        ({"size": "6000Gi", "deployment": "PERSISTENT_1", "throughputPerTiB": 12}, 1599, 1599),
    ],
)
def test_a_checkpoint_takes_what_the_disks_write_all_the_time(
    facts: dict[str, Any], write: int, read: int
) -> None:
    found = schedule(lustre(**facts), LLAMA_8B)
    assert found.size == int(8.03e9 * (2 + 12))
    assert found.write is not None
    assert round(found.write) == write
    assert found.read is not None
    assert round(found.read) == read
    assert found.write_bound == "the disks of `fs-0a1b2c3d4e5f60718`"


def test_sharding_does_not_change_the_size() -> None:
    """S18: 70e9 parameters of 14 bytes are 980 GB, on 2,812 MB/s 348 seconds."""
    storage = lustre(size="24000Gi", throughputPerTiB=125)
    sharded = schedule(storage, LLAMA_70B, nodes=8)
    divided = schedule(
        storage, {"parameters": 70e9, "parallel": {"tensor": 8}, "sharding": "optimizer"}, nodes=8
    )
    assert sharded.size == divided.size == 980_000_000_000
    assert sharded.write_speed is not None
    assert round(sharded.write_speed) == 2930
    assert sharded.write is not None
    assert round(sharded.write) == 335


def test_adapters_alone_are_small() -> None:
    model = {"parameters": 8.03e9, "trainable": 41.9e6}
    assert schedule(lustre(), model).size == int(41.9e6 * 14)


def test_nodes_are_slower_than_a_large_file_system() -> None:
    """One card of 100 Gbit/s a node, though a p4d has four: 12,500 MB/s."""
    storage = lustre(size="38400Gi", throughputPerTiB=1000)
    found = schedule(storage, LLAMA_8B | {"sharding": "full"}, nodes=2)
    assert found.write_speed == 2 * 12_500
    assert found.write_bound == "the network of 2 nodes"


def test_a_bucket_is_as_fast_as_the_nodes() -> None:
    bucket = [{"name": "data", "s3": {"existing": {"bucket": "runs--usw2-az2--x-s3"}}}]
    found = schedule(bucket, LLAMA_8B)
    assert found.write_speed == found.read_speed == 4 * 12_500
    assert found.capacity is None


@pytest.mark.parametrize(
    ("disk", "nodes", "speed"),
    [
        # 125 MiB/s come with every gp3 volume: 112 GB in 14 minutes, and not in 9 seconds.
        ({"each": "namespace", "size": "500Gi"}, 1, 131.072),
        ({"each": "namespace", "size": "500Gi", "throughput": 1000, "iops": 4000}, 1, 1048.576),
        ({"each": "pod", "size": "500Gi"}, 4, 524.288),
    ],
)
def test_volumes_are_as_fast_as_they_are_made(
    disk: dict[str, Any], nodes: int, speed: float
) -> None:
    found = schedule([{"name": "data", "ebs": {"create": disk}}], LLAMA_8B, nodes=nodes)
    assert found.write_speed == found.read_speed == speed
    assert found.write_bound == found.read_bound == "the disks of `data`"


def test_of_a_volume_that_exists_nobody_says_how_fast_it_is() -> None:
    existing = {"id": "vol-0a1b2c3d4e5f60718", "zone": "us-west-2b", "size": "500Gi"}
    found = schedule([{"name": "data", "ebs": {"existing": existing}}], LLAMA_8B, nodes=1)
    assert (found.write_speed, found.write_bound, found.write) == (None, "", None)


def test_without_throughput_or_model_nothing_is_guessed() -> None:
    unknown = schedule(lustre(), LLAMA_8B, every="1h")
    assert (unknown.write, unknown.best, unknown.lost(3600)) == (None, None, None)
    without_model = schedule(lustre(throughputPerTiB=125), every="1h")
    assert (without_model.size, without_model.needed) == (None, None)


def test_a_failure_of_any_gpu_stops_all() -> None:
    """Llama 3: 419 in 54 days on 16,384 GPUs, one in three hours."""
    hours = load_catalog().failure_rates.usual.hours
    assert round(hours) == 50_677
    assert isclose(hours / 16384, 54 * 24 / 419)
    found = schedule(lustre(throughputPerTiB=125), LLAMA_8B)
    assert found.mtbf == int(hours * 3600 / 32)
    said = schedule(lustre(throughputPerTiB=125), LLAMA_8B, {"meanTimeBetweenFailures": "400h"})
    assert said.mtbf == 100 * 3600


def test_nodes_without_gpus_fail_as_often_as_the_pool_says() -> None:
    cpu = {"instanceTypes": ["m7i.16xlarge"], "zones": ["us-west-2a"]}
    model = {"parameters": 1e9, "precision": "fp32"}
    assert schedule(lustre(throughputPerTiB=125), model, cpu).mtbf is None
    said = {**cpu, "meanTimeBetweenFailures": "4000h"}
    assert schedule(lustre(throughputPerTiB=125), model, said).mtbf == 1000 * 3600


def test_the_best_interval_is_that_of_young_and_daly() -> None:
    """At the best interval saves and failures cost the same, and any other costs more."""
    found = schedule(lustre(size="12000Gi", throughputPerTiB=125), LLAMA_8B)
    write, mtbf, best = found.write, found.mtbf, found.best
    assert write is not None
    assert mtbf is not None
    assert best is not None
    assert abs(best - sqrt(2 * write * mtbf)) <= 300
    assert isclose(write / best, best / (2 * mtbf), rel_tol=0.05)
    least = found.lost(best)
    assert least is not None
    for other in (best // 2, best * 2):
        lost = found.lost(other)
        assert lost is not None
        assert lost > least


def test_the_best_interval_leaves_a_checkpoint_before_the_end() -> None:
    data = spec(
        storage=lustre(size="12000Gi", throughputPerTiB=125),
        pool=P4D,
        job={
            "nodes": 4,
            "mounts": [{"storage": "data", "path": "/data"}],
            "checkpoint": {"path": "/data/run"},
            "model": LLAMA_8B,
            "timeout": "6h",
        },
    )
    plan = plan_of(data)
    (found,) = plan.of(CheckpointSchedule)
    assert found.best == 3 * 3600
    (why,) = (each.reason for each in plan.derived if each.field == "checkpoint.best")
    assert "half of the timeout" in why


def test_a_save_in_the_background_stops_nobody() -> None:
    storage = lustre(throughputPerTiB=125)
    found = schedule(storage, LLAMA_8B, **{"async": True})
    assert found.write is not None
    assert found.best is not None
    assert found.mtbf is not None
    assert abs(found.best - 2 * found.write) <= 30
    assert found.lost(3600) == 3600 / (2 * found.mtbf)


def test_a_failure_costs_half_an_interval_and_the_way_back() -> None:
    found = schedule(lustre(size="38400Gi", throughputPerTiB=125), LLAMA_8B, every="30m")
    assert found.read is not None
    assert found.repeated(1800) == 900 + found.read


def test_the_program_learns_how_many_are_kept_where_the_spec_says_it() -> None:
    saves = {"path": "/data/run", "every": "30m"}
    job = {"mounts": [{"storage": "data", "path": "/data"}], "checkpoint": saves}
    variables = {each.name for each in job_of(spec(storage=lustre(), job=job)).env}
    assert "CHECKPOINT_KEEP" not in variables
    saves["keep"] = 3  # type: ignore[assignment]
    said = {each.name: each.value for each in job_of(spec(storage=lustre(), job=job)).env}
    assert said["CHECKPOINT_KEEP"] == "3"
    assert schedule(lustre(), LLAMA_8B).keep == KEPT == 10


def test_each_figure_is_explained() -> None:
    data = spec(
        storage=lustre(size="38400Gi", throughputPerTiB=125),
        pool=P4D,
        job={
            "nodes": 4,
            "mounts": [{"storage": "data", "path": "/data"}],
            "checkpoint": {"path": "/data/run", "every": "30m"},
            "model": LLAMA_8B,
        },
    )
    values = {each.field: each for each in plan_of(data).derived if "checkpoint." in each.field}
    assert {name: each.value for name, each in values.items()} == {
        "checkpoint.size": "104.7 GiB",
        "checkpoint.keep": "10",
        "checkpoint.write": "24s",
        "checkpoint.read": "24s",
        "checkpoint.best": "4h40m",
    }
    assert all(each.source for each in values.values())
    assert "1584h between failures of 4 nodes" in values["checkpoint.best"].reason


@pytest.mark.parametrize(
    ("storage", "nodes", "written", "source"),
    [
        (
            {"fsxLustre": {"existing": {**FSX, "throughputPerTiB": 125}}},
            4,
            "12m48s",
            "FSx for Lustre user guide, ssd-storage",
        ),
        (
            {"s3": {"existing": {"bucket": "runs--usw2-az2--x-s3"}}},
            4,
            "3s",
            "awslabs/mountpoint-s3 58817cab, CONFIGURATION.md",
        ),
        (
            {"ebs": {"create": {"each": "namespace", "size": "500Gi"}}},
            1,
            "14m18s",
            "EBS user guide, general-purpose",
        ),
    ],
)
def test_how_fast_a_storage_is_stands_in_its_own_guide(
    storage: dict[str, Any], nodes: int, written: str, source: str
) -> None:
    data = spec(
        storage=[{"name": "data", **storage}],
        pool=P4D,
        job={
            "nodes": nodes,
            "mounts": [{"storage": "data", "path": "/data"}],
            "checkpoint": {"path": "/data/run"},
            "model": LLAMA_8B,
        },
    )
    (found,) = (each for each in plan_of(data).derived if each.field == "checkpoint.write")
    assert (found.value, found.source) == (written, source)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "1s"), (23.98, "24s"), (3599.5, "1h"), (4000, "1h7m"), (5_701_050, "1584h")],
)
def test_times_are_as_exact_as_they_are_long(seconds: float, text: str) -> None:
    assert lasting(seconds) == text
