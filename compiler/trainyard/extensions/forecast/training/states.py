"""Weights, gradients and the optimizer's state of one rank, in bytes.

Sources: Rajbhandari et al. 2020, arXiv:1910.02054, sections 3.1 and 5 (bytes of a parameter, what each ZeRO stage
shards); Narayanan et al. 2021, arXiv:2104.04473, section 3 (what tensor and pipeline parallelism divide); Megatron-LM
d98e8a64, megatron/training/theoretical_memory_usage.py (the stage that holds the most, experts).
"""

from __future__ import annotations

from trainyard.core.training.shape import Shape, stage_attentions, stage_layers
from trainyard.extensions.forecast.training.part import Part
from trainyard.extensions.forecast.training.setup import Setup

ZERO = "arXiv:1910.02054, sections 3.1 and 5"
PARALLEL = "arXiv:2104.04473, section 3"
MEGATRON = "Megatron-LM d98e8a64, megatron/training/theoretical_memory_usage.py"
_FP32 = 4
_SHARDED = {
    "none": (),
    "optimizer": ("optimizer",),
    "gradients": ("optimizer", "gradients"),
    "full": ("optimizer", "gradients", "weights"),
}
_OFFLOADED = {
    None: (),
    "optimizer": ("optimizer", "gradients"),
    "parameters": ("optimizer", "gradients", "weights"),
}


def dense_parameters(shape: Shape, setup: Setup) -> float:
    """The parameters of the largest stage of a rank without experts: attention, router, embedding, output layer."""
    attentions = stage_attentions(shape, setup.pipeline) * shape.attention
    layers = stage_layers(shape, setup.pipeline)
    blocks = 0
    if shape.experts == 1:
        blocks = layers * shape.expert
    ends = shape.embedding
    if setup.pipeline == 1:
        ends += shape.output
    return (attentions + blocks + ends) / setup.tensor + layers * shape.router


def expert_parameters(shape: Shape, setup: Setup) -> float:
    """The parameters of the experts of a rank's stage."""
    if shape.experts == 1:
        return 0
    layers = stage_layers(shape, setup.pipeline)
    return layers * shape.experts * shape.expert / (setup.tensor * setup.expert)


def local_parameters(shape: Shape, setup: Setup) -> float:
    """The parameters that a rank computes with, before any sharding."""
    return dense_parameters(shape, setup) + expert_parameters(shape, setup)


def held(shape: Shape, setup: Setup, what: str) -> float:
    """The parameters of which a rank holds weights, gradients or optimizer; 0 where the host does."""
    if what in _OFFLOADED[setup.offload]:
        return 0
    return _share(shape, setup, what)


def on_host(shape: Shape, setup: Setup) -> float:
    """The bytes that a rank keeps in the memory of its node."""
    sizes = {
        "weights": setup.weight_bytes,
        "gradients": setup.gradient_bytes,
        "optimizer": setup.optimizer_bytes,
    }
    return sum(_share(shape, setup, what) * sizes[what] for what in _OFFLOADED[setup.offload])


def _share(shape: Shape, setup: Setup, what: str) -> float:
    """The parameters of which a rank has weights, gradients or optimizer, wherever they are."""
    dense = dense_parameters(shape, setup)
    experts = expert_parameters(shape, setup)
    if what in _SHARDED[setup.sharding]:
        dense /= setup.shards
        # Ranks that hold different experts share none of them.
        experts /= max(1, setup.shards / setup.expert)
    local = dense + experts
    if what == "weights" or setup.trained is None:
        return local
    return local * setup.trained / shape.parameters


def weights(shape: Shape, setup: Setup) -> Part:
    """The weights that stay on a rank; fp8 keeps them in 8 or 16 bits."""
    count = held(shape, setup, "weights")
    more = setup.weight_bytes
    if setup.precision == "fp8":
        more = max(more, 2)
    return _part("weights", count, setup.weight_bytes, more, setup)


def gradients(shape: Shape, setup: Setup) -> Part:
    """The gradients that stay on a rank: of the computation's format, or in fp32 where they are accumulated so.

    Megatron accumulates in fp32 unless it is told otherwise (``accumulate_allreduce_grads_in_fp32``). A program that
    reduces them after the last micro batch alone keeps all of them until then, FSDP2 in the format of the reduction
    (PyTorch 2.8, ``FSDPModule.set_requires_gradient_sync``, ``MixedPrecisionPolicy.reduce_dtype``).
    """
    if setup.piles_up and not setup.sync_each_pass:
        return _piled_up(shape, setup)
    count = held(shape, setup, "gradients")
    more = setup.gradient_bytes
    if setup.sharding != "full" and setup.optimizer_bytes >= 12:
        more = max(more, _FP32)
    return _part("gradients", count, setup.gradient_bytes, more, setup)


def _piled_up(shape: Shape, setup: Setup) -> Part:
    """The gradients of a rank that accumulates without reducing: of all that it computes with."""
    whole = local_parameters(shape, setup)
    if setup.trained is not None:
        whole *= setup.trained / shape.parameters
    shared = held(shape, setup, "gradients")
    fewest = whole if setup.sync_each_pass is False else shared
    return Part(
        name="gradients",
        least=fewest * setup.gradient_bytes,
        most=whole * _FP32,
        formula="of one micro batch ÷ (data × context); all of a rank, until the last micro batch of a step, where "
        "they are not reduced after each",
        numbers=f"{fewest:,.0f} parameters × {setup.gradient_bytes:g} bytes to {whole:,.0f} × {_FP32} bytes",
        source=f"{ZERO}; PyTorch 2.8, FSDPModule.set_requires_gradient_sync",
    )


def optimizer(shape: Shape, setup: Setup) -> Part:
    """The optimizer's state of a rank, with the fp32 copy of the weights where there is one."""
    count = held(shape, setup, "optimizer")
    return _part("optimizer", count, setup.optimizer_bytes, setup.optimizer_bytes, setup)


def _part(name: str, count: float, low: float, high: float, setup: Setup) -> Part:
    size = f"{low:g} bytes"
    if high != low:
        size = f"{low:g} to {high:g} bytes"
    division = "parameters of the largest stage ÷ tensor"
    if name in _SHARDED[setup.sharding]:
        division += " ÷ (data × context)"
    return Part(
        name=name,
        least=count * low,
        most=count * high,
        formula=f"{division} × bytes",
        numbers=f"{count:,.0f} parameters × {size}",
        source=f"{ZERO}; {MEGATRON}",
    )
