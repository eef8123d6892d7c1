"""DeepSpeed's three batch sizes, and how the third follows from two of them.

``train_batch_size`` = ``train_micro_batch_size_per_gpu`` × ``gradient_accumulation_steps`` × the ranks that have data
of their own (DeepSpeed 0.17, deepspeed/runtime/config.py, DeepSpeedConfig._set_batch_related_parameters).
"""

from __future__ import annotations

from typing import NamedTuple


class Batch(NamedTuple):
    """Samples: of a step of the optimizer, of a rank's pass, and a rank's passes in a step; ``None`` is not said."""

    size: int | None
    micro: int | None
    steps: int | None


class BatchFault(Exception):  # noqa: N818 - a finding, which the caller reports
    """Sizes that do not make up each other, with the key of the spec at fault and what to write."""

    def __init__(self, message: str, field: str, help: str) -> None:
        super().__init__(message)
        self.message = message
        self.field = field
        self.help = help


def whole_batch(said: Batch, ranks: int) -> Batch:
    """All three sizes. Raises ``BatchFault`` where there are none.

    As DeepSpeed does: without the number of passes it is one, unless the other two say it.
    """
    size, micro, steps = said
    if size is None and micro is None:
        raise BatchFault(
            "the passes alone make no batch",
            "gradientAccumulationSteps",
            "write `microBatchSize` too",
        )
    if size is None:
        assert micro is not None, "one of the two is said"
        return Batch(micro * (steps or 1) * ranks, micro, steps or 1)
    if micro is None:
        steps = steps or 1
        return Batch(size, _divided(size, steps * ranks, f"{steps} × {ranks}"), steps)
    if steps is None:
        return Batch(size, micro, _divided(size, micro * ranks, f"{micro} × {ranks}"))
    if size != micro * steps * ranks:
        raise BatchFault(
            f"a batch of {size} is not {micro} × {steps} × {ranks}",
            "trainBatchSize",
            f"write `{micro * steps * ranks}`, or leave one of the three out",
        )
    return Batch(size, micro, steps)


def _divided(size: int, unit: int, said: str) -> int:
    if size % unit == 0:
        return size // unit
    near = max(1, (size + unit // 2) // unit) * unit
    raise BatchFault(
        f"a batch of {size} cannot be divided by {said}",
        "trainBatchSize",
        f"write `{near}`, or another multiple of {unit}",
    )
