"""Whether the model of each job fits, how long it takes, and what that costs, by the arithmetic of training."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from trainyard.core.jobs.plan import TrainingState
from trainyard.extensions.forecast.blocks import Block, Explained, Heading, Text, paragraph, table
from trainyard.extensions.forecast.costs import Item
from trainyard.extensions.forecast.platforms import costs_of
from trainyard.extensions.forecast.subject import Subject
from trainyard.extensions.forecast.training.duration import Step
from trainyard.extensions.forecast.training.memory import Memory
from trainyard.extensions.forecast.training.part import Part
from trainyard.extensions.forecast.training.plan import TrainingRun
from trainyard.extensions.forecast.training.run import Run
from trainyard.language.dataclass import dataclass
from trainyard.language.diagnostics.words import numbered
from trainyard.plan import Plan

_GIB = 1024**3
_HOUR, _DAY = 3600, 24 * 3600
_UNKNOWN = "?"
_HEADER = (
    "job",
    "parameters:",
    "GiB of an accelerator:",
    "of:",
    "verdict",
    "tokens/s of an accelerator:",
    "MFU:",
    "days:",
    "USD:",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A job with what is computed for it. ``usd_hour``: what its nodes cost; ``None`` where no price is known."""

    state: TrainingRun
    run: Run
    memory: Memory
    step: Step | None
    usd_hour: float | None

    def seconds(self, of_step: float) -> float | None:
        """The time of the whole run, if a step takes so long; ``None`` where its tokens are not known."""
        if self.step is None:
            return None
        return self.run.whole(self.step, of_step)

    def usd(self, of_step: float) -> float | None:
        """What the whole run costs, if a step takes so long."""
        seconds = self.seconds(of_step)
        if seconds is None or self.usd_hour is None:
            return None
        return seconds / _HOUR * self.usd_hour

    def days(self, of_step: float) -> float | None:
        """The days of the whole run, without failures and saves, if a step takes so long."""
        seconds = self.seconds(of_step)
        return None if seconds is None else seconds / _DAY


def states_of(plan: Plan) -> list[TrainingState]:
    """The jobs with a model, those too that wait for the first build of their image."""
    waiting = [node for node in plan.waiting if isinstance(node, TrainingState)]
    return [*plan.of(TrainingState), *waiting]


def estimates(subject: Subject) -> Iterator[Estimate]:
    """The jobs whose shape and batch are known."""
    states = [state for state in states_of(subject.plan) if isinstance(state, TrainingRun)]
    if not states:
        return
    items = costs_of(subject)
    nodes = {item.name: item for item in items if item.node}
    for state in states:
        run = state.run
        yield Estimate(
            state=state, run=run, memory=run.memory, step=run.step(), usd_hour=_usd_hour(nodes, run)
        )


def _usd_hour(nodes: Mapping[str, Item], run: Run) -> float | None:
    item = nodes.get(run.place.pool)
    if item is None or item.usd is None:
        return None
    return run.nodes * item.usd


def section(subject: Subject) -> Iterator[Block]:
    """A line for each job whose shape and batch are known."""
    found = list(estimates(subject))
    if not found:
        return
    yield Heading("Models")
    yield paragraph(
        "By formulas (docs/model-fit.md), as ranges. `trainyard fit` has every part with its reason."
    )
    yield table(_HEADER, (_row(estimate) for estimate in found))


def _row(estimate: Estimate) -> tuple[Text, ...]:
    run, needed, shape = estimate.run, estimate.memory, estimate.run.shape
    memory = f"{needed.least / _GIB:,.0f} to {needed.most / _GIB:,.0f}"
    cells = (
        estimate.state.name,
        Explained(
            f"{shape.parameters / 1e9:,.2f}e9",
            f"of {shape.layers} layers of width {shape.hidden} and a vocabulary of {shape.vocabulary:,}",
        ),
        Explained(memory, f"GiB: {_summed(needed.parts, _GIB)}"),
        Explained(
            f"{run.place.memory / _GIB:,.0f}", f"the memory that a rank has on {run.place.instance}"
        ),
        run.verdict,
    )
    step = estimate.step
    if step is None:
        return (*cells, *[Explained(_UNKNOWN, run.untimed)] * 4)
    return (*cells, *_times(estimate, step))


def _times(estimate: Estimate, step: Step) -> Iterator[Text]:
    """The speed, the utilization, the days and the cost."""
    yield Explained(
        between(step.rate(step.most), step.rate(step.least), 0),
        f"{step.tokens:,} tokens of a step ÷ its time ÷ {numbered(step.ranks, 'accelerator')}; "
        f"seconds of a step: {_summed(step.parts, 1)}",
    )
    low, high = step.utilization(step.most), step.utilization(step.least)
    yield Explained(
        f"{low:.0%} to {high:.0%}",
        f"tokens/s × {step.operations:.3g} operations of a token ÷ the peak of {step.peak:.3g} a second",
    )
    tokens = estimate.run.tokens
    if tokens is None:
        yield from [Explained(_UNKNOWN, "the tokens of the whole run are not known")] * 2
        return
    days = between(estimate.days(step.least), estimate.days(step.most), 1)
    yield Explained(days, f"{tokens:.3g} tokens ÷ tokens/s of all accelerators")
    if estimate.usd_hour is None:
        yield Explained(_UNKNOWN, f"the price of pool {estimate.run.place.pool} is not known")
        return
    usd = between(estimate.usd(step.least), estimate.usd(step.most), 0)
    nodes = numbered(estimate.run.nodes, "node")
    yield Explained(usd, f"days × 24 × ${estimate.usd_hour:,.2f} an hour of {nodes}")


def _summed(parts: Iterable[Part], unit: int) -> str:
    """The parts of a sum with their ranges, in a unit."""
    found = []
    for part in parts:
        if part.most:
            least, most = f"{part.least / unit:,.2g}", f"{part.most / unit:,.2g}"
            found.append(
                f"{part.name} {least}" if least == most else f"{part.name} {least} to {most}"
            )
    return ", ".join(found)


def between(least: float | None, most: float | None, digits: int) -> str:
    """A range of numbers; ``?`` where it is not known."""
    if least is None or most is None:
        return _UNKNOWN
    return f"{least:,.{digits}f} to {most:,.{digits}f}"
