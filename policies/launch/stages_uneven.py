from __future__ import annotations

from collections.abc import Iterator

from trainyard.extensions.forecast.training.plan import TrainingRun
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity


@rule("RUN171", severity=Severity.WARNING)
def stages_uneven(state: TrainingRun) -> Iterator[Finding]:
    """The layers of a model are not divided evenly among the stages of its pipeline.

    The largest stage decides the time of all and the memory of the first one: the others wait for it (Narayanan et al.
    2021, arXiv:2104.04473, section 2.2). Megatron refuses it without options for uneven stages
    (megatron/training/arguments.py, core_v0.14).

    ## Fails

        jobs: [{name: llama, model: {sharding: full, parallel: {pipeline: 4}, shape: {layers: 30, hidden: 4096,
          heads: 32, ffn: 11008, vocabulary: 32000}, batch: {sequenceLength: 1024}}}]

    ## Passes

        jobs: [{name: llama, model: {sharding: full, parallel: {pipeline: 4}, shape: {layers: 32, hidden: 4096,
          heads: 32, ffn: 11008, vocabulary: 32000}, batch: {sequenceLength: 1024}}}]
    """
    run = state.run
    layers, stages = run.shape.layers, run.setup.pipeline * run.setup.chunks
    if layers % stages:
        yield Finding(
            f"the model of job `{state.name}` has {layers} layers, and its pipeline {stages} parts",
            state.where("pipeline"),
            label="the other stages wait for the largest",
            help=f"write degrees whose product divides {layers}",
        )
