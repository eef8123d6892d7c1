from __future__ import annotations

from collections.abc import Iterator

from trainyard.extensions.forecast.training.plan import TrainingRun
from trainyard.judge.policy.rule import Finding, rule


@rule("RUN170")
def heads_do_not_divide(state: TrainingRun) -> Iterator[Finding]:
    """The heads of a model cannot be divided by its tensor degree.

    Each rank has whole heads, and whole heads of keys and values or a copy of one (Megatron-LM d98e8a64,
    megatron/core/transformer/transformer_config.py). The program ends when it starts.

    ## Fails

        jobs: [{name: llama, model: {sharding: full, parallel: {tensor: 8}, shape: {layers: 32, hidden: 4096, heads: 12,
          headSize: 128, ffn: 14336, vocabulary: 32000}, batch: {sequenceLength: 1024}}}]

        jobs: [{name: llama, model: {sharding: full, parallel: {tensor: 8}, shape: {layers: 32, hidden: 4096, heads: 48,
          kvHeads: 12, headSize: 128, ffn: 14336, vocabulary: 32000}, batch: {sequenceLength: 1024}}}]

    ## Passes

        jobs: [{name: llama, model: {sharding: full, parallel: {tensor: 8}, shape: {layers: 32, hidden: 4096, heads: 32,
          kvHeads: 8, ffn: 14336, vocabulary: 32000}, batch: {sequenceLength: 1024}}}]
    """
    run = state.run
    degree = state.tensor
    for what, count in (
        ("heads", run.shape.heads),
        ("heads of keys and values", run.shape.kv_heads),
    ):
        is_copied = what != "heads" and degree % count == 0
        if count % degree and not is_copied:
            yield Finding(
                f"the model of job `{state.name}` has {count} {what}, and {degree} ranks divide each layer",
                state.where("tensor"),
                label="no whole head for each rank",
                help=f"write a `tensor` that divides {count}",
            )
            return
