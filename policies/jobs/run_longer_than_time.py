from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.jobs.plan import ExpectedLength
from trainyard.extensions.forecast.training.plan import TrainingRun
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.places import Route
from trainyard.language.units import Duration

_HOUR, _DAY = 3600, 24 * 3600
_CERTAIN = 2 / 3
"""Of the shortest estimate: no measured run was faster (docs/model-fit.md, times)."""


@rule("RUN200")
def run_longer_than_time(state: TrainingRun, world: World) -> Iterator[Finding]:
    """The tokens of a job's whole run take longer than the time that its spec gives it.

    `batch.tokens` are those of the whole run, and the time of a step follows from the model, its division and the
    accelerators (docs/model-fit.md, with how far the formulas are from measurements). Taken is two thirds of the
    shortest estimate, without failures and saves. A job that is cut into several by its `timeout` says the tokens of
    one of them.

    ## Fails

        jobs: [{name: llama, timeout: 100h, model: {sharding: full, recomputation: full, shape: {layers: 32,
          hidden: 4096, heads: 32, ffn: 14336, vocabulary: 128256}, batch: {sequenceLength: 4096, tokens: 15e12}}}]

        jobs: [{name: llama, expected: 60h, model: {sharding: full, recomputation: full, shape: {layers: 32,
          hidden: 4096, heads: 32, ffn: 14336, vocabulary: 128256}, batch: {sequenceLength: 4096, tokens: 15e12}}}]

    ## Passes

        jobs: [{name: llama, timeout: 100h, model: {sharding: full, recomputation: full, shape: {layers: 32,
          hidden: 4096, heads: 32, ffn: 14336, vocabulary: 128256}, batch: {sequenceLength: 4096, tokens: 1e9}}}]

        jobs: [{name: llama, timeout: 100h, model: {sharding: full, recomputation: full, shape: {layers: 32,
          hidden: 4096, heads: 32, ffn: 14336, vocabulary: 128256}, batch: {sequenceLength: 4096}}}]
    """
    least = _shortest(state)
    if least is None:
        return
    for said, seconds, place in _limits(state, world):
        if least * _CERTAIN > seconds:
            yield Finding(
                f"job `{state.name}` {said} {Duration(seconds)}, and its tokens take {_time(least)} by the shortest "
                "estimate",
                place,
                label="without failures and saves",
                help="write the tokens that it trains in this time, or give it the time; `trainyard fit` shows what a "
                "step takes",
                also=((state.where("run") / "tokens", "the tokens of the whole run"),),
            )
            return


def _shortest(state: TrainingRun) -> float | None:
    """The seconds of the whole run by its shortest step; ``None`` where they are not known."""
    run = state.run
    step = run.step()
    if step is None:
        return None
    return run.whole(step, step.least)


def _limits(state: TrainingRun, world: World) -> Iterator[tuple[str, int, Route]]:
    """What the spec says of the time of a job: in words, in seconds, and where."""
    mine = (state.name, state.namespace)
    for length in world.plan.of(ExpectedLength):
        if (length.name, length.namespace) == mine:
            yield "is expected to run", length.seconds, length.where("seconds")
    for work in world.works_named(*mine):
        if work.deadline is not None:
            yield "is ended after", work.deadline, work.where("deadline")


def _time(seconds: float) -> str:
    if seconds < 2 * _DAY:
        return f"{seconds / _HOUR:,.0f} hours"
    return f"{seconds / _DAY:,.0f} days"
