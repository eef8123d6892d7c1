"""The memory of one accelerator by part."""

from __future__ import annotations

from collections.abc import Sequence

from trainyard.core.training.shape import Shape
from trainyard.extensions.forecast.training.activations import (
    activations,
    buckets,
    fragments,
    logits,
    unsharded,
    working_layer,
)
from trainyard.extensions.forecast.training.part import Part, least, most
from trainyard.extensions.forecast.training.setup import Setup
from trainyard.extensions.forecast.training.states import gradients, optimizer, weights
from trainyard.language.dataclass import dataclass

_GIB = 1024**3


@dataclass(frozen=True, slots=True)
class Memory:
    """What a rank takes of its accelerator, by part, in bytes."""

    parts: Sequence[Part]

    @property
    def least(self) -> float:
        """The lower end."""
        return least(self.parts)

    @property
    def most(self) -> float:
        """The upper end."""
        return most(self.parts)


def allocated(shape: Shape, setup: Setup) -> tuple[Part, ...]:
    """What the framework's allocator reserves."""
    moving = (
        activations(shape, setup),
        working_layer(shape, setup),
        logits(shape, setup),
        unsharded(shape, setup),
    )
    kept = (
        weights(shape, setup),
        gradients(shape, setup),
        optimizer(shape, setup),
        buckets(shape, setup),
    )
    return (*kept, *moving, fragments(moving))


def context() -> Part:
    """What the CUDA context, the libraries and NCCL's channels take beside the allocator.

    NCCL: a buffer of 4 MiB for each channel and protocol, and each communicator has its own (NCCL 2.27, NCCL_BUFFSIZE);
    the range is what PyTorch processes are seen to have.
    """
    return Part(
        name="CUDA and NCCL",
        least=0.6 * _GIB,
        most=2 * _GIB,
        formula="0.6 to 2 GiB",
        numbers="0.6 to 2 GiB",
        source="NCCL 2.27 user guide, NCCL_BUFFSIZE; assumed",
    )


def memory(shape: Shape, setup: Setup) -> Memory:
    """Everything that a rank takes of its accelerator."""
    return Memory((*allocated(shape, setup), context()))
