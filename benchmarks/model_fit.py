"""How far `trainyard fit` is from published measurements: memory of an accelerator, and tokens a second.

`model_fit.json` has each measurement with its source. Rows of the use `calibration` set the constants of
`compiler/trainyard/core/training`; the errors that are stated are those of all other rows.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from trainyard.core.training.shape import Shape
from trainyard.extensions.forecast.accelerators import peaks
from trainyard.extensions.forecast.training.duration import step
from trainyard.extensions.forecast.training.memory import allocated
from trainyard.extensions.forecast.training.part import least, middle, most
from trainyard.extensions.forecast.training.setup import Machine, Setup

DATA = Path(__file__).with_name("model_fit.json")
_GIB = 1024**3


class Result(NamedTuple):
    """A measurement and what is computed for it, in GiB or tokens a second of an accelerator."""

    row: Mapping[str, Any]
    what: str
    measured: float
    least: float
    computed: float
    most: float

    @property
    def error(self) -> float:
        """How much more is computed than was measured, as a share."""
        return self.computed / self.measured - 1

    @property
    def is_inside(self) -> bool:
        """Whether the range holds the measurement."""
        return self.least <= self.measured <= self.most

    @property
    def has_experts(self) -> bool:
        """Whether the model has experts, whose time is an estimate of its own."""
        return bool(self.row["setup"].get("expert", 1) > 1)


class Summary(NamedTuple):
    """Errors of some results, as shares, without their signs."""

    count: int
    median: float
    worst: float
    inside: float


def results() -> Iterator[Result]:
    """Every measurement with its estimate."""
    data = json.loads(DATA.read_text(encoding="utf-8"))
    for row in data["rows"]:
        shape = Shape(**data["models"][row["model"]])
        setup = Setup(**row["setup"])
        facts = data["machines"][row["machine"]]
        machine = Machine(**{"peak": peaks(facts["accelerator"]), **facts})
        measured = row["measured"]
        if "gib" in measured:
            parts = allocated(shape, setup)
            sizes = [size / _GIB for size in (least(parts), middle(parts), most(parts))]
            yield Result(row, "memory", measured["gib"], *sizes)
        if "tokens" in measured:
            found = step(shape, setup, machine)
            rates = [found.rate(time) for time in (found.most, found.middle, found.least)]
            yield Result(row, "time", measured["tokens"], *rates)


def summary(found: Sequence[Result]) -> Summary:
    """The errors of results."""
    errors = [abs(result.error) for result in found]
    inside = sum(result.is_inside for result in found)
    return Summary(len(found), median(errors), max(errors), inside / len(found))


def judged(what: str, *, experts: bool = False) -> list[Result]:
    """The results on which errors are stated: no calibration; of models with experts, or without them."""
    return [
        result
        for result in results()
        if result.what == what and result.row["use"] == "test" and result.has_experts == experts
    ]


def tables() -> Iterator[str]:
    """The table of all rows, then that of the errors."""
    yield "| what | model | measurement | measured | computed | range | error | use |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for result in results():
        row = result.row
        unit = "GiB" if result.what == "memory" else "tokens/s"
        numbers = f"{result.least:,.1f} to {result.most:,.1f}"
        yield (
            f"| {result.what} | {row['model']} | {row['source']}: {row['where']} | {result.measured:,.1f} {unit} | "
            f"{result.computed:,.1f} | {numbers} | {result.error:+.0%} | {row['use']} |"
        )
    yield ""
    yield "| what | measurements | median error | worst error | inside the range |"
    yield "| --- | --- | --- | --- | --- |"
    for title, found in (
        ("memory", judged("memory")),
        ("tokens a second", judged("time")),
        ("tokens a second, models with experts", judged("time", experts=True)),
    ):
        errors = summary(found)
        yield (
            f"| {title} | {errors.count} | {errors.median:.0%} | {errors.worst:.0%} | {errors.inside:.0%} |"
        )


if __name__ == "__main__":
    print("\n".join(tables()))
