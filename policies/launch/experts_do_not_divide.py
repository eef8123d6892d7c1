from __future__ import annotations

from collections.abc import Iterator

from trainyard.extensions.forecast.training.plan import TrainingRun
from trainyard.judge.policy.rule import Finding, rule


@rule("RUN173")
def experts_do_not_divide(state: TrainingRun) -> Iterator[Finding]:
    """The experts of a model, or the ranks that have them, cannot be divided by the expert degree.

    Each rank has whole experts, and the ranks of a pipeline stage are divided into groups that have all of them
    (Megatron-LM core_v0.14, megatron/core/parallel_state.py, and num_moe_experts in
    megatron/core/transformer/transformer_config.py).

    ## Fails

        jobs: [{name: llama, model: {sharding: full, parallel: {expert: 3}, shape: {layers: 32, hidden: 1024,
          heads: 32, ffn: 2048, vocabulary: 32000, experts: 8, expertsPerToken: 2}, batch: {sequenceLength: 1024}}}]

    ## Passes

        jobs: [{name: llama, model: {sharding: full, parallel: {expert: 8}, shape: {layers: 32, hidden: 1024,
          heads: 32, ffn: 2048, vocabulary: 32000, experts: 8, expertsPerToken: 2}, batch: {sequenceLength: 1024}}}]
    """
    run = state.run
    degree = state.expert
    of_stage = run.setup.ranks // run.setup.pipeline
    counts = {"experts": run.shape.experts, "ranks in each stage": of_stage}
    for what, count in counts.items():
        if count % degree:
            yield Finding(
                f"job `{state.name}` has {count} {what}, and an expert degree of {degree}",
                state.where("expert"),
                label="no whole expert for each rank",
                help=f"write a degree that divides {run.shape.experts} and {of_stage}",
            )
            return
