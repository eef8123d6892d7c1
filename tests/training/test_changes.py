"""The smallest change that fits, and the fastest division: each is computed again, and no smaller one would do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from trainyard.extensions.forecast.training.advice import advice
from trainyard.extensions.forecast.training.changes import (
    Change,
    _optimizers,
    _with,
    fastest,
    smallest_change,
)
from trainyard.extensions.forecast.training.run import Place, Run
from trainyard.extensions.forecast.training.setup import Setup

from training.test_duration import H100
from training.test_memory import LLAMA


def run(nodes: int = 1, most: int = 4, **fields: Any) -> Run:
    place = Place(
        pool="h100",
        instance="p5.48xlarge",
        machine=H100,
        ranks=8,
        nodes=most,
        memory=80 * 1024**3,
        host=2 * 1024**4,
    )
    of_model = fields.get("tensor", 1) * fields.get("pipeline", 1) * fields.get("context", 1)
    setup = Setup(**{"sequence": 8192, "sharding": "full", "data": nodes * 8 // of_model, **fields})
    return Run(shape=LLAMA, setup=setup, place=place, nodes=nodes)


def test_what_fits_by_a_smaller_micro_batch_gets_just_that() -> None:
    """Of 80 GiB four samples of 8192 tokens may take 103, and two 62 at the most."""
    large = run(micro_batch=4, recomputation="full")
    assert large.verdict == "may not fit"
    found = smallest_change(large)
    assert found is not None
    assert found.text == "`batch.microBatchSize: 2`"
    assert found.run.verdict == "fits"


def test_a_model_that_is_not_sharded_gets_sharded() -> None:
    found = smallest_change(run(sharding="none", fused_loss=True, sequence=2048))
    assert found is not None
    assert found.run.verdict == "fits"
    assert found.run.setup.sharding != "none"


def test_no_change_is_proposed_that_the_pool_or_the_model_refuses() -> None:
    huge = replace(LLAMA, layers=126, hidden=16384, heads=128, ffn=53248)
    found = smallest_change(replace(run(), shape=huge))
    assert found is None or found.run.nodes <= 4
    for nodes in (1, 2, 4):
        proposal = smallest_change(run(nodes, micro_batch=3, global_batch=96))
        if proposal is not None:
            setup = proposal.run.setup
            assert proposal.run.nodes <= 4
            assert setup.ranks == proposal.run.nodes * 8
            assert 96 % (setup.micro_batch * setup.data) == 0


def test_another_pool_of_the_spec_is_a_change_of_its_own() -> None:
    larger = replace(H100, accelerator="B200")
    other = Place(
        pool="b200",
        instance="p6-b200.48xlarge",
        machine=larger,
        ranks=8,
        nodes=1,
        memory=180 * 1024**3,
        host=2 * 1024**4,
    )
    small = run(most=1, recomputation="full", fused_loss=True, sequence=131072)
    assert small.verdict == "does not fit"
    found = smallest_change(replace(small, others=(other,)))
    assert found is not None
    assert found.run.verdict == "fits"


def test_the_fastest_division_fits_and_is_faster() -> None:
    slow = run(recomputation="full", tensor=8, data=1, fused_loss=True)
    found = fastest(slow)
    assert found is not None
    assert found.run.verdict == "fits"
    now, then = slow.step(), found.run.step()
    assert now is not None
    assert then is not None
    assert then.middle / then.tokens < now.middle / now.tokens


def test_advice_names_the_part_that_is_large() -> None:
    bubbly = run(nodes=4, pipeline=8, data=4, global_batch=16, fused_loss=True)
    sentences = list(advice(bubbly))
    assert any("bubble" in sentence for sentence in sentences)
    across = run(nodes=2, tensor=16, data=1)
    assert "leaves the node" in next(advice(across))


def test_advice_is_about_parts_that_a_step_has() -> None:
    """Without tensor parallelism, a pipeline or shards nothing is said of them."""
    sentences = " ".join(advice(run(sharding="none", micro_batch=8)))
    for part in ("tensor parallelism", "bubble", "sharded weights"):
        assert part not in sentences, sentences


def test_tensor_parallelism_may_take_a_fifth_of_a_step() -> None:
    """0.207 and 0.192 of it: from a fifth on a smaller degree is advised."""
    for micro_batch, is_said in ((4, True), (2, False)):
        job = run(tensor=8, data=1, micro_batch=micro_batch, sequence=2048)
        said = any("a smaller degree sends less" in sentence for sentence in advice(job))
        assert said is is_said


def test_no_time_is_computed_where_a_speed_is_not_known() -> None:
    unknown = replace(H100, peak={}, accelerator="A10G")
    job = run()
    job = replace(job, place=replace(job.place, machine=unknown))
    assert job.step() is None
    assert "A10G" in job.untimed
    assert fastest(job) is None


def test_nothing_is_offloaded_that_the_node_does_not_hold() -> None:
    """A model of 70e9 parameters has 16 bytes of each on one node, more than a terabyte."""
    larger = replace(LLAMA, layers=320)
    job = run(most=1, sequence=512, fused_loss=True, recomputation="full")
    for host, offloads in ((256 * 1024**3, False), (4 * 1024**4, True)):
        job = replace(job, shape=larger, place=replace(job.place, host=host))
        found = smallest_change(job)
        offloaded = found is not None and found.run.setup.offload is not None
        assert offloaded == offloads


def test_offloading_comes_with_the_sharding_that_it_needs() -> None:
    """DeepSpeed's ZeRO offloads the optimizer from stage 1 on."""
    larger = replace(LLAMA, layers=320)
    for sharding, text in (
        ("none", "`sharding: full`, `offload: optimizer`"),
        ("full", "`offload: optimizer`"),
    ):
        job = run(most=1, sequence=512, sharding=sharding, fused_loss=True, recomputation="full")
        place = replace(job.place, host=4 * 1024**4)
        found = smallest_change(replace(job, shape=larger, place=place))
        assert found is not None
        assert found.text == text


B200 = Place(
    pool="b200",
    instance="p6-b200.48xlarge",
    machine=replace(H100, accelerator="B200"),
    ranks=8,
    nodes=1,
    memory=180 * 1024**3,
    host=2 * 1024**4,
)


@pytest.mark.parametrize(("most", "is_possible"), [(1, False), (2, True)])
def test_another_pool_has_as_many_nodes(most: int, is_possible: bool) -> None:
    pool = Change("pool", "b200", 7, place=replace(B200, nodes=most))
    changed = _with(run(2), [pool])
    assert (changed is not None) is is_possible


@pytest.mark.parametrize(
    ("accelerators", "now", "is_possible"), [(8, 1, True), (4, 1, False), (4, 8, True)]
)
def test_tensor_parallelism_stays_within_a_node_of_another_pool(
    accelerators: int, now: int, is_possible: bool
) -> None:
    """Unless it is said already that it does not."""
    other = replace(B200, machine=replace(H100, accelerators=accelerators))
    changes = [
        Change("pool", "b200", 7, place=other),
        Change("parallel.tensor", 8, 3, (("tensor", 8),)),
    ]
    changed = _with(run(tensor=now), changes)
    assert (changed is not None) is is_possible


@pytest.mark.parametrize(("bytes_of_each", "is_proposed"), [(12, True), (6, False), (8, False)])
def test_an_optimizer_of_8_bits_replaces_adamw_alone(bytes_of_each: int, is_proposed: bool) -> None:
    proposed = _optimizers(run(optimizer_bytes=bytes_of_each))
    assert [change.text for change in proposed] == ["optimizer: adamw8bit"] * is_proposed


@pytest.mark.parametrize("offload", [None, "optimizer", "parameters"])
def test_what_is_offloaded_already_is_no_change(offload: str | None) -> None:
    found = smallest_change(run(micro_batch=4, recomputation="full", offload=offload))
    assert found is None or "offload" not in found.text or offload is None
