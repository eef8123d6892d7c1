"""What a rank keeps of the forward pass, in bytes.

A token of a layer keeps, of two bytes each, the inputs of both norms, their outputs, queries, keys, values, what
attention gives, and of the feed-forward block its inner values: 34 bytes × hidden with an inner size of four times the
hidden one and dropout (Korthikanti et al. 2022, arXiv:2205.05198, section 4), counted here by operator and without
dropout. Flash attention keeps no scores (Dao et al. 2022, arXiv:2205.14135). Tensor parallelism divides all of it where
sequence parallelism divides the rest of a layer too (arXiv:2205.05198, section 4.2.2); without it the inputs and
outputs of norms stay whole (section 4.2.1). Where a program does not say which, the range has both.
"""

from __future__ import annotations

from typing import NamedTuple

from trainyard.core.training.shape import Shape, stage_layers
from trainyard.extensions.forecast.training.part import Part
from trainyard.extensions.forecast.training.setup import Recomputation, Setup
from trainyard.extensions.forecast.training.states import (
    dense_parameters,
    expert_parameters,
    local_parameters,
)

RECOMPUTATION = "arXiv:2205.05198, sections 4 and 5"
PIPELINE = "arXiv:2104.04473, section 2.2"
LOSS = "torchtitan b5bcd76c, torchtitan/components/loss.py"
FSDP = "torchtitan b5bcd76c, torchtitan/distributed/fsdp.py"
_HALF, _FP32 = 2, 4
# Logits in the format of the model, in fp32, their logarithms of the softmax, and the gradient; fused: the first with
# its gradient in fp32.
_LOGITS, _FUSED_LOGITS = 14, 6
# Where nothing is in fp32: logits, logarithms of the softmax, and the gradients of both, in 16 bits each.
_PURE_LOGITS = 8
# What is left of activations where a compiler fuses operators, so that what is between them is not kept.
_FUSED = 0.8
# What the caching allocator loses to fragments, as a share of what comes and goes.
_FRAGMENTS = 0.15


def ffn_bytes(shape: Shape) -> float:
    """What the feed-forward blocks of a layer keep of a token: the inner values before and after the activation
    function; with a gate also those of the second matrix and their product."""
    kept = 4 if shape.gated else 2
    return _HALF * kept * shape.ffn * shape.experts_per_token


def attention_bytes(shape: Shape) -> float:
    """What an attention keeps of a token: the input and output of its norm, queries, keys, values, the output."""
    return _HALF * (2 * shape.hidden + 2 * shape.query + 2 * shape.key_value)


def layer_bytes(shape: Shape) -> float:
    """What a layer keeps of a token where nothing is recomputed."""
    attentions = shape.attention_layers / shape.layers
    norm = _HALF * 2 * shape.hidden
    return attentions * attention_bytes(shape) + norm + ffn_bytes(shape)


def selective_bytes(shape: Shape) -> float:
    """What a layer keeps of a token where cheap operators are recomputed: its input, every second product of matrices,
    and what attention gives (torchtitan 004b3148, torchtitan/parallelisms/parallelize_llama.py)."""
    attentions = shape.attention_layers / shape.layers
    of_attention = _HALF * (2 * shape.query + shape.key_value)
    of_ffn = _HALF * (shape.ffn * shape.experts_per_token + shape.hidden)
    return _HALF * shape.hidden + attentions * of_attention + of_ffn


def full_bytes(shape: Shape) -> float:
    """What a layer keeps of a token where all of it is recomputed: its input (arXiv:2205.05198, section 5)."""
    return _HALF * shape.hidden


_KEPT = {"none": layer_bytes, "selective": selective_bytes, "full": full_bytes}


def whole_bytes(shape: Shape, recomputation: Recomputation) -> float:
    """What of a token's bytes tensor parallelism alone does not divide: what goes into norms and comes out of them."""
    if recomputation == "none":
        norms = 1 + shape.attention_layers / shape.layers
        return _HALF * 2 * shape.hidden * norms
    if recomputation == "selective":
        return _HALF * 2 * shape.hidden
    return _HALF * shape.hidden


class _Divided(NamedTuple):
    """Bytes of a token on a rank: with sequence parallelism, without it, or between both."""

    least: float
    most: float

    @property
    def text(self) -> str:
        if self.least == self.most:
            return f"{self.least:,.0f}"
        return f"{self.least:,.0f} to {self.most:,.0f}"


def _divided(size: float, whole: float, setup: Setup) -> _Divided:
    """``size`` bytes of a token of which tensor parallelism alone leaves ``whole``."""
    least = size / setup.tensor
    most = whole + (size - whole) / setup.tensor
    if setup.sequence_parallel:
        return _Divided(least, least)
    if setup.sequence_parallel is None:
        return _Divided(least, most)
    return _Divided(most, most)


def in_flight(setup: Setup) -> float:
    """The micro batches whose activations the first stage holds at once: as many as there are stages, and of
    interleaved stages a part more (arXiv:2104.04473, section 2.2; Megatron-LM, ``compute_activation_memory``)."""
    stages = setup.pipeline
    held = min(stages, setup.passes)
    if setup.chunks == 1 or stages == 1:
        return held
    return stages * (1 + (stages - 1) / (stages * setup.chunks))


def activations(shape: Shape, setup: Setup) -> Part:
    """What the layers of the first stage keep for the backward pass."""
    kept = min(_KEPT[setup.recomputation](shape), layer_bytes(shape))
    layers = stage_layers(shape, setup.pipeline)
    flying = in_flight(setup)
    each = _divided(kept, whole_bytes(shape, setup.recomputation), setup)
    count = setup.tokens * layers * flying
    least = each.least * count
    if setup.recomputation == "none":
        least *= _FUSED
    return Part(
        name="activations",
        least=least,
        most=each.most * count,
        formula="bytes of a token and layer ÷ tensor (without sequence parallelism what norms take and give is whole) "
        "× microBatch × sequence ÷ context × layers × micro batches in flight",
        numbers=f"{each.text} bytes × {setup.tokens:,.0f} tokens × {layers} layers × {flying:g}",
        source=f"{RECOMPUTATION}; {PIPELINE}",
    )


def working_layer(shape: Shape, setup: Setup) -> Part:
    """What one layer needs while it runs backward: all of its activations, their gradients, and with tensor parallelism
    the inputs that are gathered."""
    tokens = setup.tokens / setup.tensor
    kept = _divided(layer_bytes(shape), whole_bytes(shape, "none"), setup)
    largest = max(ffn_bytes(shape), attention_bytes(shape))
    gathered = 0.0
    if setup.tensor > 1:
        gathered = 2 * _HALF * shape.hidden * setup.tokens
    least = most = 0.0
    if setup.recomputation != "none":
        least, most = kept.least * setup.tokens, kept.most * setup.tokens
    return Part(
        name="working layer",
        least=least + gathered / 2,
        most=most + largest * tokens + gathered,
        formula="a recomputed layer, its gradients, gathered inputs",
        numbers=f"{kept.text} bytes × {setup.tokens:,.0f} tokens + {largest:,.0f} bytes × {tokens:,.0f} tokens",
        source=RECOMPUTATION,
    )


def logits(shape: Shape, setup: Setup) -> Part:
    """The logits of a pass, in the model's format and in fp32, and their gradients; of the last stage.

    Beside these the last stage of a pipeline holds the activations of one micro batch, the first those of many, so that
    the logits count where there is no pipeline.
    """
    each = _FUSED_LOGITS if setup.fused_loss else _LOGITS
    least = each - _HALF
    if setup.pure:
        least = min(least, _PURE_LOGITS)
    count = setup.tokens * shape.vocabulary
    if setup.pipeline > 1:
        count = 0
    fewest = count if setup.loss_parallel is False else count / setup.tensor
    greatest = count / setup.tensor if setup.loss_parallel else count
    shown = f"{greatest:,.0f}"
    if fewest != greatest:
        shown = f"{fewest:,.0f} to {greatest:,.0f}"
    return Part(
        name="logits",
        least=fewest * least,
        most=greatest * each,
        formula="microBatch × sequence ÷ context × vocabulary (÷ tensor where the loss is parallel) × bytes",
        numbers=f"{shown} logits × {least} to {each} bytes",
        source=LOSS,
    )


def unsharded(shape: Shape, setup: Setup) -> Part:
    """What `full` sharding gathers: the weights of the layer that runs and of the next one, and the gradients of one;
    with a pipeline those of the whole stage, which is not sharded again between micro batches."""
    source = FSDP
    if setup.sharding != "full":
        return _none("unsharded weights", source)
    local = local_parameters(shape, setup)
    per_layer = (shape.attention + _block(shape, setup)) / setup.tensor
    if setup.pipeline > 1:
        gathered = reduced = local
    else:
        ends = shape.embedding / setup.tensor
        gathered = max(2 * per_layer, ends + per_layer)
        reduced = max(per_layer, ends)
    if setup.adapters:
        reduced = 0
    count = gathered * _HALF + reduced * _FP32
    return Part(
        name="unsharded weights",
        least=gathered * _HALF + reduced * _HALF,
        most=count,
        formula="two layers (a whole stage in a pipeline) × 2 bytes, and their gradients × 2 to 4",
        numbers=f"{gathered:,.0f} × 2 bytes + {reduced:,.0f} × 2 to 4 bytes",
        source=source,
    )


def _block(shape: Shape, setup: Setup) -> float:
    if shape.experts == 1:
        return shape.expert
    return shape.experts * shape.expert / setup.expert


def buckets(shape: Shape, setup: Setup) -> Part:
    """The buffers in which gradients are reduced where weights are not sharded: 40 million parameters at the least
    (Megatron Core d98e8a64, distributed_data_parallel.py), 25 MB in PyTorch's DDP."""
    source = (
        "Megatron Core d98e8a64, distributed_data_parallel.py; PyTorch 2.8, DistributedDataParallel"
    )
    alone = setup.shards == 1
    if setup.sharding == "full" or alone or setup.adapters:
        return _none("communication buffers", source)
    local = dense_parameters(shape, setup) + expert_parameters(shape, setup)
    most = min(local, 40e6) * _FP32
    return Part(
        name="communication buffers",
        least=min(25e6, most),
        most=most,
        formula="buckets of gradients",
        numbers=f"25 MB to {most / 1e6:,.0f} MB",
        source=source,
    )


def fragments(parts: tuple[Part, ...]) -> Part:
    """What the allocator cannot use, of memory that comes and goes: 0 to 15 %.

    PyTorch documents the fragments and gives no number (CUDA semantics, memory management); the upper end is the
    largest that the calibration rows of docs/model-fit.md show.
    """
    moving = sum(part.most for part in parts)
    return Part(
        name="fragments",
        least=0,
        most=_FRAGMENTS * moving,
        formula="0 to 15 % of activations, working layer, logits and unsharded weights",
        numbers=f"0 to {_FRAGMENTS:.0%} of {moving / 1024**3:,.1f} GiB",
        source="PyTorch 2.8, CUDA semantics, memory management; calibrated",
    )


def _none(name: str, source: str) -> Part:
    return Part(name=name, least=0, most=0, formula="none", numbers="0", source=source)
