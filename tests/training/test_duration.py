"""The time of a step: what each part follows from."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from trainyard.extensions.forecast.training.duration import Step, efficiency, model_operations, step
from trainyard.extensions.forecast.training.setup import Machine, Setup

from training.test_memory import LLAMA

H100 = Machine(
    accelerator="H100",
    accelerators=8,
    memory_rate=3.35e12,
    peak={"bf16": 989e12, "fp8": 1979e12},
    link=450e9,
    network=50e9,
)


def time(machine: Machine = H100, **fields: Any) -> Step:
    return step(
        LLAMA, Setup(**{"sequence": 8192, "sharding": "full", "data": 8, **fields}), machine
    )


def part(found: Step, name: str) -> float:
    parts = {part.name: part.middle for part in found.parts}
    return parts.get(name, 0.0)


def test_operations_are_those_that_megatron_s_figures_go_by() -> None:
    """Megatron-Bridge 067f987d: 744 TFLOPs at 14,451 tokens a second of Llama 3 8B, sequences of 8192."""
    found = model_operations(LLAMA, Setup(sequence=8192))
    assert found == pytest.approx(744e12 / 14451, rel=0.01)


def test_utilization_is_the_model_s_operations_of_the_peak() -> None:
    found = time()
    rate = found.rate(found.middle)
    expected = rate * model_operations(LLAMA, Setup(sequence=8192)) / 989e12
    assert found.utilization(found.middle) == pytest.approx(expected)


def test_recomputing_takes_longer() -> None:
    ways = ("none", "selective", "full")
    times = [time(recomputation=way).middle for way in ways]
    assert times == sorted(times)
    assert len(set(times)) == 3


def test_the_bubble_is_the_paper_s() -> None:
    """arXiv:2104.04473, section 2.2: (p - 1) / m of the time without it, and of interleaved stages a part of that."""
    found = time(pipeline=4, data=2, global_batch=32)
    layers = [
        each
        for each in found.parts
        if each.name not in ("pipeline bubble", "gradients", "optimizer step")
    ]
    alone = sum(each.least for each in layers)
    (bubble,) = (each for each in found.parts if each.name == "pipeline bubble")
    assert bubble.least == pytest.approx(3 / 16 * alone)
    parts = time(pipeline=4, chunks=4, data=2, global_batch=32)
    assert part(parts, "pipeline bubble") < part(found, "pipeline bubble") / 3


def test_tensor_parallelism_between_nodes_waits_for_the_network() -> None:
    inside = part(time(tensor=8, data=1), "tensor parallelism")
    across = part(time(tensor=16, data=1), "tensor parallelism")
    assert across > 8 * inside


def test_a_slow_network_is_waited_for_and_a_fast_one_is_not() -> None:
    slow = replace(H100, network=1e9)
    assert part(time(slow, data=64), "sharded weights") > 10 * part(
        time(data=64), "sharded weights"
    )


def test_more_accelerators_never_take_longer_for_a_step_of_the_same_batch() -> None:
    times = [time(data=ranks, global_batch=512).middle for ranks in (8, 16, 32, 64)]
    assert times == sorted(times, reverse=True)


def test_what_is_waited_for_is_shown_and_nothing_else() -> None:
    names = {each.name for each in time().parts}
    assert "tensor parallelism" not in names
    assert "expert parallelism" not in names
    assert names >= {"products with weights", "attention", "other operators", "optimizer step"}


@pytest.mark.parametrize("sharding", ["none", "optimizer", "full"])
@pytest.mark.parametrize("network", [1e9, 50e9])
def test_each_part_has_its_ends_in_order(sharding: str, network: float) -> None:
    """What is moved while others compute is never free, and its part beyond their time is waited for."""
    found = time(replace(H100, network=network), sharding=sharding, data=16)
    for each in found.parts:
        assert 0 <= each.least <= each.most, each.name
    [moved] = [each for each in found.parts if each.name in ("gradients", "sharded weights")]
    assert moved.least < moved.most
    assert (moved.least > 0) is (network == 1e9)


def test_fp16_reaches_the_share_of_bf16() -> None:
    for accelerator in ("A100", "H100", "H200", "L4"):
        assert efficiency(accelerator, "fp16") == efficiency(accelerator, "bf16")
    assert efficiency("H100", "fp16") != efficiency("H100", "fp8")
    divided = efficiency("H200", "bf16", divided=True)
    assert divided == efficiency("H100", "bf16") != efficiency("L4", "bf16")


def test_whole_products_of_h200_reach_more_than_divided_ones() -> None:
    """8e9 on one H200 takes 3.1 s for 32,768 tokens, and was computed as 4.9 s; divided by four ranks it was right."""
    assert efficiency("H200", "bf16").products > efficiency("H200", "bf16", divided=True).products
    assert efficiency("H200", "fp8") == efficiency("H100", "fp8")
