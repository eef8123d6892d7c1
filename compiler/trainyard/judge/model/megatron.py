"""Options of a Megatron-LM command that say how ranks divide a model.

Source: Megatron-LM, megatron/training/arguments.py (core_v0.14).
"""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.judge.model.command import named_options
from trainyard.judge.model.work import Work
from trainyard.language.dataclass import dataclass
from trainyard.language.units import count

DEGREES = ("tensor-model-parallel-size", "pipeline-model-parallel-size", "context-parallel-size")
"""The options for the degrees of tensor, pipeline and context parallelism."""


@dataclass(frozen=True, slots=True)
class Megatron:
    """The degrees of a command, and all of its options by name."""

    tensor: int
    pipeline: int
    context: int
    given: Mapping[str, str | None]

    @property
    def degrees(self) -> tuple[int, int, int]:
        """In the order of their options."""
        return self.tensor, self.pipeline, self.context

    def number(self, name: str) -> int | None:
        """The whole number, above 0, that an option has; ``None`` for another one, or none."""
        return _number(self.given.get(name))


def megatron_of(work: Work) -> Megatron | None:
    """What a job says to Megatron; ``None`` where it says no degree, or one that is not known."""
    given = named_options(work.words)
    if given.keys().isdisjoint(DEGREES):
        return None
    texts = [given.get(name, "1") for name in DEGREES]
    tensor, pipeline, context = map(_number, texts)
    if tensor is None or pipeline is None or context is None:
        return None
    return Megatron(tensor, pipeline, context, given)


def _number(text: str | None) -> int | None:
    return count(text) or None


def processes_of(work: Work, said: str | None) -> int:
    """The processes of a node, where ``--nproc-per-node`` is ``said``; 0 where they are not known."""
    if said is not None and said != "gpu":
        return count(said) or 0
    if isinstance(work.processes, int):
        return work.processes
    if work.processes not in (None, "auto", "gpu"):
        return 0
    if work.accelerator is not None:
        return work.accelerator[1]
    return 0
