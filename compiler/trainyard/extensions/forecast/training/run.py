"""A job as the arithmetic sees it: a shape, how it is trained, and where it runs."""

from __future__ import annotations

from trainyard.core.training.shape import Shape
from trainyard.extensions.forecast.training.duration import Step, step
from trainyard.extensions.forecast.training.memory import Memory, memory
from trainyard.extensions.forecast.training.setup import Machine, Setup
from trainyard.language.dataclass import dataclass

KEYS = {
    "sync_each_pass": "batch.syncEachBatch",
    "sequence_parallel": "parallel.sequenceParallel",
    "loss_parallel": "parallel.lossParallel",
}
"""What a program does, by its name in a setup, and the key that says it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Nodes of a pool: ``ranks`` of each, ``nodes`` at the most. ``memory``: the bytes of an accelerator that a rank
    has; ``host``: those of a node that the job has."""

    pool: str
    instance: str
    machine: Machine
    ranks: int
    nodes: int
    memory: int
    host: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A model in training on ``nodes`` of a place. ``tokens``: those of the whole run, where they are known;
    ``others``: places that it could have instead."""

    shape: Shape
    setup: Setup
    place: Place
    nodes: int
    tokens: float | None = None
    others: tuple[Place, ...] = ()

    @property
    def memory(self) -> Memory:
        """What a rank takes of its accelerator."""
        return memory(self.shape, self.setup)

    @property
    def verdict(self) -> str:
        """``fits``, ``may not fit`` where the limit is in the range, or ``does not fit``."""
        needed = self.memory
        if needed.least > self.place.memory:
            return "does not fit"
        if needed.most > self.place.memory:
            return "may not fit"
        return "fits"

    @property
    def unsaid(self) -> list[str]:
        """The keys that would make the range of the memory smaller: without them it holds programs of both kinds."""
        matters = self.setup.matters
        return [
            key
            for name, key in KEYS.items()
            if name in matters and getattr(self.setup, name) is None
        ]

    @property
    def untimed(self) -> str:
        """Why no time is computed; empty where one is."""
        machine = self.place.machine
        if self.setup.offload is not None:
            return "transfers of what is offloaded are not in the model"
        if not machine.memory_rate or self.setup.precision not in machine.peak:
            return f"the speed of {machine.accelerator} in {self.setup.precision} is not in the catalog"
        return ""

    def whole(self, step: Step, seconds: float) -> float | None:
        """The seconds of all steps, if one takes so many; ``None`` where the tokens of the run are not known."""
        if self.tokens is None:
            return None
        return self.tokens / step.tokens * seconds

    def step(self) -> Step | None:
        """The time of a step; ``None`` where it is not computed."""
        if self.untimed:
            return None
        return step(self.shape, self.setup, self.place.machine)
