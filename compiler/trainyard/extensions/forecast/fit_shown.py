"""``fit``: whether the model of each job fits, by part, how long it takes, and what to change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trainyard.cli.output import as_json
from trainyard.cli.streams import UsageError
from trainyard.extensions.forecast.sections.models import Estimate, between, estimates
from trainyard.extensions.forecast.sections.unestimated import Unestimated, unestimated
from trainyard.extensions.forecast.subjects import subject
from trainyard.extensions.forecast.training.advice import advice
from trainyard.extensions.forecast.training.part import Part
from trainyard.extensions.forecast.training.run import Run
from trainyard.language.dataclass import dataclass
from trainyard.language.diagnostics.near import name_meant
from trainyard.run.outcome import Options, Outcome

_GIB = 1024**3


@dataclass(frozen=True, slots=True)
class Fit:
    """The estimates of a cluster, and the jobs with a model of which too little is known."""

    cluster: str
    found: Sequence[Estimate]
    unknown: Sequence[Unestimated]

    @property
    def has_misfits(self) -> bool:
        """Whether a model does not fit, even by the lower end."""
        return any(estimate.run.verdict == "does not fit" for estimate in self.found)


def fits(done: Outcome, options: Options, job: str | None) -> list[Fit]:
    """The estimates of each cluster, of all jobs or of one."""
    found = []
    names: set[str] = set()
    for compilation in done.compilations:
        if compilation.plan is None or compilation.spec is None:
            continue
        known = list(estimates(subject(compilation, options)))
        catalog = subject(compilation, options).catalog
        unknown = list(unestimated(compilation.spec, compilation.plan, catalog))
        names.update(estimate.state.name for estimate in known)
        names.update(each.job for each in unknown)
        if job is not None:
            known = [estimate for estimate in known if estimate.state.name == job]
            unknown = [each for each in unknown if each.job == job]
        found.append(Fit(compilation.name, known, unknown))
    if job is not None and job not in names and found:
        hint = name_meant(job, names)
        more = f": {hint}" if hint else ""
        raise UsageError(f"`--job {job}`: no job of that name has a `model`{more}")
    return found


def printed(found: Sequence[Fit], format: str) -> str:
    """The estimates in a format: ``text`` or ``json``."""
    if format == "json":
        return as_json({"clusters": [_cluster(each) for each in found]})
    lines: list[str] = []
    for each in found:
        for estimate in each.found:
            lines += [*_text(each.cluster, estimate), ""]
        for unknown in each.unknown:
            lines += [f"{unknown.job} in {each.cluster}: not estimated: {unknown.why}"]
            if unknown.help:
                lines += [f"  {unknown.help}"]
            lines += [""]
    if not lines:
        lines = ["no job has a `model`", ""]
    return "\n".join(lines[:-1]) + "\n"


def explained(found: Sequence[Fit], asked: str) -> str:
    """The formula of a part, by its number or name, with its numbers and source."""
    lines: list[str] = []
    names: dict[str, None] = {}
    for each in found:
        for estimate in each.found:
            for number, part, unit in _parts(estimate):
                names[part.name] = None
                if asked in (str(number), part.name):
                    lines += _reason(estimate, part, unit)
    if not lines:
        hint = name_meant(asked, list(names))
        more = f": {hint}" if hint else "; `trainyard fit` numbers them"
        raise UsageError(f"`--why {asked}`: there is no such part{more}")
    return "\n".join(lines) + "\n"


def _reason(estimate: Estimate, part: Part, unit: float) -> Iterator[str]:
    yield f"{part.name} of {estimate.state.name}: {_amount(part, unit)}"
    yield f"  {part.formula}"
    yield f"  {part.numbers}"
    yield f"  source: {part.source}"


def _amount(part: Part, unit: float) -> str:
    if unit == 1:
        return f"{part.least:,.3g} to {part.most:,.3g} s"
    return f"{part.least / unit:,.2f} to {part.most / unit:,.2f} GiB"


def _parts(estimate: Estimate) -> Iterator[tuple[int, Part, float]]:
    """The parts of memory and time that are not zero, by number, with the unit that they are shown in."""
    number = 0
    for part in estimate.memory.parts:
        if part.most:
            number += 1
            yield number, part, _GIB
    if estimate.step is None:
        return
    for part in estimate.step.parts:
        number += 1
        yield number, part, 1


def _text(cluster: str, estimate: Estimate) -> Iterator[str]:
    run = estimate.run
    setup, place = run.setup, run.place
    nodes = f"{run.nodes} × {place.instance} of pool {place.pool}"
    yield f"{estimate.state.name} in {cluster}: {nodes}, {setup.ranks} ranks"
    yield f"  {_shape(run)}"
    yield f"  {_division(run)}"
    yield f"  memory of an accelerator: {_sum(estimate)}: {run.verdict}"
    if run.unsaid:
        keys = ", ".join(f"`{key}`" for key in run.unsaid)
        yield f"  not said: {keys}; the lower end is with them, the upper end without"
    for number, part, unit in _parts(estimate):
        if unit == _GIB:
            yield f"  {number:>4} {part.name:<22} {part.least / unit:>8,.1f} to {part.most / unit:>6,.1f} GiB"
    yield from _time(estimate)
    if run.verdict != "fits":
        change = estimate.state.smaller or "none of up to three keys is known"
        yield f"  the smallest change that fits: {change}"
    for sentence in advice(run):
        yield f"  advice: {sentence}"


def _shape(run: Run) -> str:
    shape = run.shape
    experts = ""
    if shape.experts > 1:
        experts = f", {shape.experts} experts of which {shape.experts_per_token} for a token"
    return (
        f"{shape.parameters / 1e9:,.2f}e9 parameters: {shape.layers} layers × {shape.hidden}, {shape.heads} heads, "
        f"{shape.kv_heads} of keys and values{experts}"
    )


def _division(run: Run) -> str:
    setup = run.setup
    degrees = {
        "tensor": setup.tensor,
        "pipeline": setup.pipeline,
        "context": setup.context,
        "expert": setup.expert,
        "data": setup.data,
    }
    named = [f"{name} {degree}" for name, degree in degrees.items() if degree > 1]
    division = " × ".join(named) or "one rank"
    return (
        f"{division}, sharding {setup.sharding}, recomputation {setup.recomputation}, "
        f"{setup.micro_batch} × {setup.sequence} tokens a pass, {setup.step_tokens:,} tokens a step"
    )


def _sum(estimate: Estimate) -> str:
    needed, limit = estimate.memory, estimate.run.place.memory
    return f"{needed.least / _GIB:,.1f} to {needed.most / _GIB:,.1f} of {limit / _GIB:,.1f} GiB"


def _time(estimate: Estimate) -> Iterator[str]:
    step = estimate.step
    if step is None:
        yield f"  time of a step: not computed, since {estimate.run.untimed}"
        return
    yield f"  time of a step: {step.least:,.2f} to {step.most:,.2f} s"
    for number, part, unit in _parts(estimate):
        if unit == 1:
            yield f"  {number:>4} {part.name:<22} {part.least:>8,.3f} to {part.most:>6,.3f} s"
    low, high = step.utilization(step.most), step.utilization(step.least)
    rate = between(step.rate(step.most), step.rate(step.least), 0)
    yield f"  {rate} tokens a second of an accelerator, MFU {low:.0%} to {high:.0%}"
    days = estimate.days(step.least)
    if days is None or estimate.run.tokens is None:
        yield "  days and cost of the whole run: not computed without `batch.tokens`"
        return
    shown = between(days, estimate.days(step.most), 1)
    whole = f"  {estimate.run.tokens:.3g} tokens: {shown} days without failures and saves"
    if estimate.usd_hour is None:
        yield f"{whole}; the price of pool `{estimate.run.place.pool}` is not known"
        return
    usd = between(estimate.usd(step.least), estimate.usd(step.most), 0)
    yield f"{whole}, {usd} USD of nodes"


def _cluster(fit: Fit) -> Mapping[str, Any]:
    jobs = [_job(estimate) for estimate in fit.found]
    return {
        "cluster": fit.cluster,
        "jobs": jobs,
        "unknown": [each._asdict() for each in fit.unknown],
    }


def _job(estimate: Estimate) -> Mapping[str, Any]:
    run, step = estimate.run, estimate.step
    values: dict[str, Any] = {
        "job": estimate.state.name,
        "verdict": run.verdict,
        "memory": {
            "least": round(estimate.memory.least),
            "most": round(estimate.memory.most),
            "limit": run.place.memory,
            "unsaid": run.unsaid,
            "parts": [_part(part, digits=0) for part in estimate.memory.parts],
        },
        "smallestChange": estimate.state.smaller or None,
        "advice": list(advice(run)),
        "untimed": run.untimed or None,
    }
    if step is not None:
        values["step"] = {
            "least": round(step.least, 6),
            "most": round(step.most, 6),
            "tokens": step.tokens,
            "tokensPerSecond": [round(step.rate(time), 1) for time in (step.most, step.least)],
            "utilization": [round(step.utilization(time), 4) for time in (step.most, step.least)],
            "parts": [_part(part, digits=6) for part in step.parts],
        }
        values["days"] = [_rounded(estimate.days(time)) for time in (step.least, step.most)]
        values["usd"] = [_rounded(estimate.usd(time)) for time in (step.least, step.most)]
    return values


def _part(part: Part, *, digits: int) -> Mapping[str, Any]:
    return {
        "name": part.name,
        "least": round(part.least, digits),
        "most": round(part.most, digits),
        "formula": part.formula,
        "numbers": part.numbers,
        "source": part.source,
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 2)
