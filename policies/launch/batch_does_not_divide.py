from __future__ import annotations

from collections.abc import Iterator

from trainyard.extensions.forecast.training.plan import TrainingRun
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics.words import numbered


@rule("RUN174")
def batch_does_not_divide(state: TrainingRun) -> Iterator[Finding]:
    """The global batch of a job cannot be divided into micro batches of its data parallel ranks.

    A step is a whole number of passes: the global batch divided by the micro batch and by the copies of the model
    (Megatron-LM core_v0.14, megatron/core/num_microbatches_calculator.py; torchtitan b5bcd76c, torchtitan/trainer.py).

    ## Fails

        jobs: [{name: llama, model: {sharding: full, shape: {layers: 16, hidden: 2048, heads: 32, ffn: 8192,
          vocabulary: 32000}, batch: {sequenceLength: 1024, globalBatchSize: 100}}}]

        jobs: [{name: llama, model: {sharding: full, shape: {layers: 16, hidden: 2048, heads: 32, ffn: 8192,
          vocabulary: 32000}, batch: {sequenceLength: 1024, globalBatchSize: 8}}}]

    ## Passes

        jobs: [{name: llama, model: {sharding: full, shape: {layers: 16, hidden: 2048, heads: 32, ffn: 8192,
          vocabulary: 32000}, batch: {sequenceLength: 1024, globalBatchSize: 128}}}]
    """
    run = state.run
    setup = run.setup
    unit = setup.micro_batch * setup.data
    size = setup.global_batch
    if size is None or size % unit == 0:
        return
    near = max(1, (size + unit // 2) // unit) * unit
    yield Finding(
        f"job `{state.name}` has a global batch of {size}, and {setup.data} copies of the model take "
        f"{numbered(setup.micro_batch, 'sample')} each",
        state.where("run") / "globalBatchSize",
        label="no whole number of passes",
        help=f"write `globalBatchSize: {near}`, or another multiple of {unit}",
    )
