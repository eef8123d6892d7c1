"""Memory by hand, and what must hold of it for any model: dividing, recomputing and offloading never take more."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from drawn import examples_of
from hypothesis import given, settings
from hypothesis import strategies as st
from trainyard.core.training.shape import Shape
from trainyard.extensions.forecast.training.activations import (
    activations,
    buckets,
    in_flight,
    layer_bytes,
    logits,
    unsharded,
)
from trainyard.extensions.forecast.training.memory import memory
from trainyard.extensions.forecast.training.setup import Setup
from trainyard.extensions.forecast.training.states import (
    dense_parameters,
    gradients,
    local_parameters,
    optimizer,
    weights,
)

GIB = 1024**3
LLAMA = Shape(
    layers=32, hidden=4096, heads=32, kv_heads=8, head_size=128, ffn=14336, vocabulary=128256
)
MIXTRAL = Shape(
    layers=32,
    hidden=4096,
    heads=32,
    kv_heads=8,
    head_size=128,
    ffn=14336,
    vocabulary=32000,
    experts=8,
    experts_per_token=2,
)


def setup(**fields: Any) -> Setup:
    return Setup(**{"sequence": 8192, **fields})


@pytest.mark.parametrize(
    ("shape", "parameters"),
    [
        (LLAMA, 8_030_261_248),  # meta-llama/Meta-Llama-3-8B, model.safetensors.index.json
        (MIXTRAL, 46_702_792_704),  # mistralai/Mixtral-8x7B-v0.1
        (replace(LLAMA, vocabulary=32000, ffn=11008, kv_heads=32), 6_738_415_616),  # Llama 2 7B
    ],
)
def test_parameters_are_those_of_the_published_weights(shape: Shape, parameters: int) -> None:
    assert shape.parameters == pytest.approx(parameters, rel=0.001)


def test_the_state_of_one_rank_by_hand() -> None:
    sharded = setup(sharding="full", data=8)
    parts = [part(LLAMA, sharded).least for part in (weights, gradients, optimizer)]
    each = LLAMA.parameters / 8
    assert parts == pytest.approx([2 * each, 2 * each, 12 * each])


@pytest.mark.parametrize(
    ("fields", "has"),
    [
        ({"data": 1}, False),
        ({"data": 2}, True),
        ({"data": 2, "sharding": "optimizer"}, True),
        ({"data": 2, "sharding": "full"}, False),
    ],
)
def test_who_reduces_gradients_has_buckets_for_them(fields: dict[str, Any], has: bool) -> None:
    found = buckets(LLAMA, setup(**fields))
    assert (found.most > 0) is has


def test_a_layer_by_hand() -> None:
    """Norms' inputs and outputs, queries, keys, values and the output of attention; four values of the inner width."""
    attention = 2 * (4 * 4096 + 2 * 4096 + 2 * 1024)
    assert layer_bytes(LLAMA) == attention + 2 * 4 * 14336


def test_the_paper_s_layer() -> None:
    """arXiv:2205.05198, section 4: 34 bytes of a token and width, of which dropout takes 3; here it has none."""
    shape = replace(LLAMA, kv_heads=32, ffn=4 * 4096, gated=False)
    assert layer_bytes(shape) == 32 * 4096


def test_the_first_stage_holds_a_micro_batch_for_each_stage() -> None:
    assert in_flight(setup(pipeline=8, global_batch=64)) == 8
    assert in_flight(setup(pipeline=8, global_batch=4)) == 4
    assert in_flight(setup(pipeline=8, chunks=2, global_batch=64)) == 8 * (1 + 7 / 16)


def test_logits_count_without_a_pipeline() -> None:
    assert logits(LLAMA, setup()).least == 12 * 8192 * 128256
    assert logits(LLAMA, setup(fused_loss=True)).least == 4 * 8192 * 128256
    assert logits(LLAMA, setup(pipeline=2)).most == 0


WHOLE = {"none": 2 * 2 * 2 * 4096, "selective": 2 * 2 * 4096, "full": 2 * 4096}


@pytest.mark.parametrize("way", WHOLE)
def test_without_sequence_parallelism_norms_are_not_divided(way: str) -> None:
    """arXiv:2205.05198, sections 4.2.1 and 4.2.2: eight bytes of a width stay whole without it."""
    fields = {"tensor": 4, "recomputation": way}
    least, most, both = (
        activations(LLAMA, setup(**fields, sequence_parallel=said)) for said in (True, False, None)
    )
    tokens = 8192 * LLAMA.layers
    assert most.most - least.most == pytest.approx(WHOLE[way] * 3 / 4 * tokens)
    assert (both.least, both.most) == (least.least, most.most)


def test_a_loss_that_is_not_parallel_has_all_logits() -> None:
    least, most, both = (
        logits(LLAMA, setup(tensor=4, loss_parallel=said)) for said in (True, False, None)
    )
    assert (most.least, most.most) == (4 * least.least, 4 * least.most)
    assert (both.least, both.most) == (least.least, most.most)
    assert logits(LLAMA, setup(tensor=4, pipeline=2)).most == 0


def test_with_nothing_in_fp32_logits_take_eight_bytes() -> None:
    count = 8192 * 128256
    found = logits(LLAMA, setup(pure=True))
    assert (found.least, found.most) == (8 * count, 14 * count)
    assert logits(LLAMA, setup(pure=True, fused_loss=True)).least == 4 * count


@pytest.mark.parametrize("sharding", ["none", "optimizer", "gradients", "full"])
def test_gradients_that_are_not_reduced_pile_up_where_they_are_sharded(sharding: str) -> None:
    """FSDP without synchronization keeps a rank's gradients whole, in the format of the reduction."""
    fields = {"sharding": sharding, "data": 8, "global_batch": 32, "optimizer_bytes": 4}
    synced, piled, both = (
        gradients(LLAMA, setup(**fields, sync_each_pass=said)) for said in (True, False, None)
    )
    if sharding in ("none", "optimizer"):
        assert synced == piled == both
        return
    assert synced.most == 2 * LLAMA.parameters / 8
    assert (piled.least, piled.most) == (2 * LLAMA.parameters, 4 * LLAMA.parameters)
    assert (both.least, both.most) == (synced.least, piled.most)


@pytest.mark.parametrize(
    "fields",
    [
        {"data": 8, "global_batch": 8},
        {"data": 1, "global_batch": 32},
        {"data": 8, "global_batch": 32, "offload": "parameters"},
        {"data": 8, "global_batch": 32, "pipeline": 4},
    ],
)
def test_nothing_piles_up_without_micro_batches_or_shards(fields: dict[str, Any]) -> None:
    given = setup(sharding="full", **fields)
    assert gradients(LLAMA, given) == gradients(LLAMA, replace(given, sync_each_pass=True))


def test_frozen_weights_have_neither_gradients_nor_optimizer() -> None:
    adapters = setup(trained=LLAMA.parameters / 100)
    whole = setup()
    assert weights(LLAMA, adapters) == weights(LLAMA, whole)
    assert optimizer(LLAMA, adapters).least == pytest.approx(optimizer(LLAMA, whole).least / 100)
    assert gradients(LLAMA, adapters).least == pytest.approx(gradients(LLAMA, whole).least / 100)


def test_what_is_not_of_experts_by_hand() -> None:
    """Tensor parallelism divides all but the routers."""
    whole = 32 * MIXTRAL.attention + MIXTRAL.embedding + MIXTRAL.output
    assert dense_parameters(MIXTRAL, setup(tensor=2)) == whole / 2 + 32 * MIXTRAL.router


def test_experts_are_divided_and_the_rest_is_not() -> None:
    one = local_parameters(MIXTRAL, setup())
    divided = local_parameters(MIXTRAL, setup(expert=8, data=8))
    assert one - divided == 32 * 7 * MIXTRAL.expert


SETUPS = st.builds(
    Setup,
    sharding=st.sampled_from(["none", "optimizer", "gradients", "full"]),
    recomputation=st.sampled_from(["none", "selective", "full"]),
    tensor=st.sampled_from([1, 2, 4, 8]),
    pipeline=st.sampled_from([1, 2, 4]),
    context=st.sampled_from([1, 2]),
    data=st.sampled_from([1, 2, 8, 64]),
    micro_batch=st.integers(1, 8),
    sequence=st.sampled_from([2048, 8192, 32768]),
    fused_loss=st.booleans(),
    pure=st.booleans(),
    global_batch=st.sampled_from([None, 4096]),
    sequence_parallel=st.sampled_from([None, True, False]),
    loss_parallel=st.sampled_from([None, True, False]),
    sync_each_pass=st.sampled_from([None, True, False]),
)
SHAPES = st.sampled_from([LLAMA, MIXTRAL, replace(LLAMA, gated=False, tied=True)])


@pytest.mark.slow
@settings(max_examples=examples_of(60), deadline=None)
@given(SHAPES, SETUPS)
def test_each_range_has_its_ends_in_order(shape: Shape, given: Setup) -> None:
    for part in memory(shape, given).parts:
        assert 0 <= part.least <= part.most, part


@pytest.mark.slow
@settings(max_examples=examples_of(60), deadline=None)
@given(SHAPES, SETUPS)
def test_what_is_not_known_holds_what_may_be(shape: Shape, given: Setup) -> None:
    """A range of what a spec does not say has those of every program in it."""
    unsaid = replace(given, sequence_parallel=None, loss_parallel=None, sync_each_pass=None)
    widest, known = memory(shape, unsaid), memory(shape, given)
    assert widest.least <= known.least * (1 + 1e-9)
    assert known.most <= widest.most * (1 + 1e-9)


@pytest.mark.slow
@settings(max_examples=examples_of(60), deadline=None)
@given(SHAPES, SETUPS)
def test_dividing_a_layer_never_takes_more_weights(shape: Shape, given: Setup) -> None:
    more = replace(given, tensor=2 * given.tensor)
    assert weights(shape, more).most <= weights(shape, given).most
    assert memory(shape, more).parts[2].most <= memory(shape, given).parts[2].most


@pytest.mark.slow
@settings(max_examples=examples_of(60), deadline=None)
@given(SHAPES, SETUPS)
def test_a_larger_micro_batch_never_takes_less(shape: Shape, given: Setup) -> None:
    more = replace(given, micro_batch=given.micro_batch + 1)
    assert memory(shape, more).least >= memory(shape, given).least
    assert memory(shape, more).most >= memory(shape, given).most


@pytest.mark.slow
@settings(max_examples=examples_of(60), deadline=None)
@given(SHAPES, SETUPS)
def test_recomputing_more_never_keeps_more(shape: Shape, given: Setup) -> None:
    kept = [
        activations(shape, replace(given, recomputation=way)).most
        for way in ("none", "selective", "full")
    ]
    assert kept == sorted(kept, reverse=True)


@pytest.mark.slow
@settings(max_examples=examples_of(60), deadline=None)
@given(SHAPES, SETUPS)
def test_sharding_more_never_keeps_more_state(shape: Shape, given: Setup) -> None:
    kept = []
    for way in ("none", "optimizer", "gradients", "full"):
        sharded = replace(given, sharding=way)
        kept.append(sum(part(shape, sharded).most for part in (weights, gradients, optimizer)))
    assert kept == sorted(kept, reverse=True)


def test_layers_of_which_nothing_is_trained_have_no_gradients() -> None:
    """Full sharding gathers weights for a pass of a model with adapters, and reduces nothing."""
    every, adapters = (
        unsharded(LLAMA, setup(sharding="full", data=8, trained=trained))
        for trained in (None, 41.9e6)
    )
    assert adapters.least == adapters.most
    assert adapters.least < every.least < every.most
    assert adapters.numbers.endswith(" + 0 × 2 to 4 bytes")
