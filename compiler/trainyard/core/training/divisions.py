"""What has to divide evenly for a model to be divided among ranks."""

from __future__ import annotations

from trainyard.core.training.setup import Setup
from trainyard.core.training.shape import Shape


def divides(shape: Shape, setup: Setup) -> bool:
    """Whether heads, layers, sequence, experts and batch divide as the setup says.

    Heads by the tensor degree, those of keys and values unless they are copied, layers by the stages, a sequence by
    twice the context degree (Megatron-LM d98e8a64, megatron/core/transformer/transformer_config.py and
    megatron/training/arguments.py).
    """
    return (
        shape.heads % setup.tensor == 0
        and _kv_heads_divide(shape, setup)
        and shape.layers % (setup.pipeline * setup.chunks) == 0
        and (setup.context == 1 or setup.sequence % (2 * setup.context) == 0)
        and shape.experts % setup.expert == 0
        and setup.ranks // setup.pipeline % setup.expert == 0
        and _batch_divides(setup)
    )


def _kv_heads_divide(shape: Shape, setup: Setup) -> bool:
    return shape.kv_heads % setup.tensor == 0 or setup.tensor % shape.kv_heads == 0


def _batch_divides(setup: Setup) -> bool:
    if setup.global_batch is None:
        return True
    return setup.global_batch % (setup.micro_batch * setup.data) == 0
