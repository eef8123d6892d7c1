from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.extensions.forecast.training.plan import TrainingRun
from trainyard.judge.model.command import named_options
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.units import count

_OPTIONS = {
    "num-layers": "layers",
    "hidden-size": "hidden",
    "num-attention-heads": "heads",
    "ffn-hidden-size": "ffn",
    "seq-length": "sequenceLength",
    "training.seq-len": "sequenceLength",
    "micro-batch-size": "microBatchSize",
    "training.local-batch-size": "microBatchSize",
    "per-device-train-batch-size": "microBatchSize",
    "global-batch-size": "globalBatchSize",
    "training.global-batch-size": "globalBatchSize",
}


@rule("RUN201")
def model_differs_from_command(state: TrainingRun, world: World) -> Iterator[Finding]:
    """The command of a job trains a model or batch of other sizes than `model` of its spec.

    The program does what its options say. What is judged by the spec is another job then: whether it fits the memory
    of the accelerators, how long a step takes, what the whole run costs. Read are the options of Megatron-LM
    (megatron/training/arguments.py, core_v0.14), of TorchTitan (torchtitan/config/job_config.py, b5bcd76c) and of the
    Trainer of Transformers (training_args.py, v4.57). What a command does not say may stand in a file.

    ## Fails

        jobs: [{name: llama, command: [torchrun, pretrain_gpt.py, --seq-length=131072], model: {sharding: full,
          shape: {layers: 16, hidden: 2048, heads: 32, ffn: 8192, vocabulary: 32000}, batch: {sequenceLength: 1024}}}]

        jobs: [{name: llama, command: [torchrun, pretrain_gpt.py, --micro-batch-size, "4"], model: {sharding: full,
          shape: {layers: 16, hidden: 2048, heads: 32, ffn: 8192, vocabulary: 32000}, batch: {sequenceLength: 1024}}}]

        jobs: [{name: llama, command: [torchrun, train.py, --per_device_train_batch_size=8], model: {sharding: full,
          shape: {layers: 16, hidden: 2048, heads: 32, ffn: 8192, vocabulary: 32000}, batch: {sequenceLength: 1024}}}]

        jobs: [{name: llama, command: [torchrun, pretrain_gpt.py, --num-layers=32], model: {sharding: full,
          shape: {layers: 16, hidden: 2048, heads: 32, ffn: 8192, vocabulary: 32000}, batch: {sequenceLength: 1024}}}]

        jobs: [{name: llama, command: [torchrun, -m, torchtitan.train, --training.global_batch_size=64], model: {
          sharding: full, shape: {layers: 16, hidden: 2048, heads: 32, ffn: 8192, vocabulary: 32000},
          batch: {sequenceLength: 1024, globalBatchSize: 128}}}]

    ## Passes

        jobs: [{name: llama, command: [torchrun, pretrain_gpt.py, --seq-length=1024, --num-layers=16], model: {
          sharding: full, shape: {layers: 16, hidden: 2048, heads: 32, ffn: 8192, vocabulary: 32000},
          batch: {sequenceLength: 1024}}}]

        jobs: [{name: llama, command: [torchrun, pretrain_gpt.py, --global-batch-size=128], model: {sharding: full,
          shape: {layers: 16, hidden: 2048, heads: 32, ffn: 8192, vocabulary: 32000}, batch: {sequenceLength: 1024}}}]

        jobs: [{name: llama, command: [torchrun, pretrain_gpt.py, --seq-length=131072]}]
    """
    for work in world.works_named(state.name, state.namespace):
        yield from _of_job(state, work)


def _of_job(state: TrainingRun, work: Work) -> Iterator[Finding]:
    sizes = _sizes(state)
    for option, text in named_options(work.words).items():
        key = _OPTIONS.get(option)
        said, wanted = count(text), sizes.get(key) if key else None
        if said is None or wanted is None or said == wanted:
            continue
        yield Finding(
            f"the command of {work.title} has `--{option}` {said}, and its model `{key}: {wanted}`",
            work.where_said(f"--{option}"),
            label="the program does what its options say",
            help=f"write `--{option}={wanted}`, or `{key}: {said}` in the model",
            also=((state.where("run"), "the model of the spec"),),
        )


def _sizes(state: TrainingRun) -> Mapping[str | None, int | None]:
    """What the spec says, by its keys; ``None`` where it leaves it open."""
    shape, setup = state.run.shape, state.run.setup
    return {
        "layers": shape.layers,
        "hidden": shape.hidden,
        "heads": shape.heads,
        "ffn": shape.ffn,
        "sequenceLength": setup.sequence,
        "microBatchSize": setup.micro_batch,
        "globalBatchSize": setup.global_batch,
    }
