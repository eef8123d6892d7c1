"""What is worth changing in the shape of a job, each with its reason."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.extensions.forecast.training.changes import fastest
from trainyard.extensions.forecast.training.duration import Step
from trainyard.extensions.forecast.training.run import Run

_TAKEAWAYS = "arXiv:2104.04473, section 5"
_WORTH_IT = 0.1


def advice(run: Run) -> Iterator[str]:
    """Sentences for people: what to change, and why."""
    setup, machine = run.setup, run.place.machine
    if setup.tensor > machine.accelerators:
        yield (
            f"tensor parallelism of {setup.tensor} leaves the node of {machine.accelerators}: keep it at "
            f"{machine.accelerators} or less, where NVLink is, and divide by pipeline or data beyond ({_TAKEAWAYS})"
        )
    step = run.step()
    if step is None:
        return
    yield from _of_parts(run, step)
    faster = fastest(run)
    if faster is None:
        return
    other = faster.run.step()
    assert other is not None, "it was compared by its time"
    saved = 1 - other.middle / other.tokens * step.tokens / step.middle
    yield f"with {faster.text} a token takes {saved:.0%} less time and the model fits, by the same formulas"


def _of_parts(run: Run, step: Step) -> Iterator[str]:
    """The parts of a step's time that are large and need not be."""
    shares = {part.name: part.middle / step.middle for part in step.parts}
    bubble = shares.get("pipeline bubble", 0)
    if bubble > _WORTH_IT:
        yield (
            f"the pipeline's bubble is {bubble:.0%} of a step: take more micro batches (`globalBatchSize`), or "
            "`virtualStages` (arXiv:2104.04473, section 2.2)"
        )
    weights = shares.get("sharded weights", 0)
    if weights > _WORTH_IT:
        yield (
            f"{weights:.0%} of a step waits for sharded weights: take a larger micro batch, so that more is "
            "computed for what is gathered (arXiv:1910.02054, section 7)"
        )
    tensor = shares.get("tensor parallelism", 0)
    if tensor > 2 * _WORTH_IT:
        yield (
            f"tensor parallelism is {tensor:.0%} of a step: a smaller degree sends less, if the model still fits "
            f"({_TAKEAWAYS})"
        )
