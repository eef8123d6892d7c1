from __future__ import annotations

from collections.abc import Iterator

from trainyard.extensions.forecast.training.plan import TrainingRun
from trainyard.judge.policy.rule import Finding, rule


@rule("RUN172")
def sequence_does_not_divide(state: TrainingRun) -> Iterator[Finding]:
    """The sequence of a job cannot be divided by its context degree.

    Causal attention is balanced by giving each rank two parts of a sequence, one from its begin and one from its end,
    so a sequence is divided by twice the degree (Megatron-LM core_v0.14, megatron/training/arguments.py).

    ## Fails

        jobs: [{name: llama, model: {sharding: full, parallel: {context: 8}, shape: {layers: 32, hidden: 4096,
          heads: 32, ffn: 11008, vocabulary: 32000}, batch: {sequenceLength: 8200}}}]

    ## Passes

        jobs: [{name: llama, model: {sharding: full, parallel: {context: 8}, shape: {layers: 32, hidden: 4096,
          heads: 32, ffn: 11008, vocabulary: 32000}, batch: {sequenceLength: 8192}}}]
    """
    run = state.run
    unit = 2 * run.setup.context
    if run.setup.context > 1 and run.setup.sequence % unit:
        yield Finding(
            f"job `{state.name}` has sequences of {run.setup.sequence} tokens, and {run.setup.context} ranks divide "
            "each",
            state.where("run") / "sequenceLength",
            label="the program ends when it starts",
            help=f"write a multiple of {unit}, twice the context degree",
        )
