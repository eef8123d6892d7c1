from __future__ import annotations

from collections.abc import Iterator
from math import prod

from trainyard.judge.model.megatron import Megatron, megatron_of, processes_of
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule

# Options that give the stages of a pipeline different numbers of layers.
_UNEVEN = (
    "account-for-embedding-in-pipeline-split",
    "account-for-loss-in-pipeline-split",
    "decoder-first-pipeline-num-layers",
    "decoder-last-pipeline-num-layers",
    "hybrid-override-pattern",
    "pipeline-model-parallel-layout",
)


@rule("RUN100", gangs=True, roles=True)
def model_does_not_divide(work: Work) -> Iterator[Finding]:
    """The layers, heads, sequence or batch of a model cannot be divided as the options for Megatron say.

    Attention heads, and the groups of their keys and values, are divided by the tensor degree
    (megatron/core/transformer/transformer_config.py), layers by the pipeline degree, a sequence by twice the context
    degree (megatron/training/arguments.py), the batch by the samples of a pass of all copies
    (megatron/core/num_microbatches_calculator.py; Megatron-LM core_v0.14). Each ends the program when it starts.

    ## Fails

        jobs: [{name: llama, command: [torchrun, pretrain.py, --tensor-model-parallel-size=8,
          --num-attention-heads=12]}]

        jobs: [{name: llama, command: [torchrun, pretrain.py, --tensor-model-parallel-size=8,
          --num-attention-heads=32, --group-query-attention, --num-query-groups=4]}]

        jobs: [{name: llama, command: [torchrun, pretrain.py, --pipeline-model-parallel-size=4, --num-layers=30]}]

        jobs: [{name: llama, command: [torchrun, pretrain.py, --context-parallel-size=8, --seq-length=8200]}]

        jobs: [{name: llama, command: [torchrun, pretrain.py, --tensor-model-parallel-size=8, --micro-batch-size=2,
          --global-batch-size=129]}]

        apiVersion: kubeflow.org/v1
        kind: PyTorchJob
        metadata: {name: bert, namespace: team-b}
        spec:
          pytorchReplicaSpecs:
            Worker:
              replicas: 2
              template:
                spec:
                  containers: [{name: pytorch, image: "public.ecr.aws/team/train:1.0",
                    command: [torchrun, pretrain.py, "--tensor-model-parallel-size=4", "--num-attention-heads=30"],
                    volumeMounts: [{name: shm, mountPath: /dev/shm}],
                    resources: {limits: {cpu: 90, memory: 1000Gi, nvidia.com/gpu: 8, vpc.amazonaws.com/efa: 4,
                      hugepages-2Mi: 5Gi}}}]
                  volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: 64Gi}}]

    ## Passes

        jobs: [{name: llama, command: [torchrun, pretrain.py, --tensor-model-parallel-size=8,
          --pipeline-model-parallel-size=2, --num-layers=32, --num-attention-heads=32, --num-query-groups=8,
          --seq-length=8192, --micro-batch-size=2, --global-batch-size=128]}]

        jobs: [{name: llama, command: [torchrun, pretrain.py, --pipeline-model-parallel-size=4, --num-layers=30,
          --decoder-first-pipeline-num-layers=6]}]
    """
    said = megatron_of(work)
    if said is None:
        return
    for name, unit, by in _divided(work, said):
        number = said.number(name)
        if number is None or number % unit == 0:
            continue
        near = max(1, (number + unit // 2) // unit) * unit
        yield Finding(
            f"`--{name}` of {work.title} is {number}, which cannot be divided by {by}",
            work.where_said(f"--{name}"),
            label="the program ends when it starts",
            help=f"write `{near}`, or another multiple of {unit}",
        )


def _divided(work: Work, said: Megatron) -> Iterator[tuple[str, int, str]]:
    """The options that have to be divided: by how much, and what that is."""
    tensor = f"{said.tensor}, the tensor degree"
    yield "num-attention-heads", said.tensor, tensor
    if "group-query-attention" in said.given:
        yield "num-query-groups", said.tensor, tensor
    if not any(name in said.given for name in _UNEVEN):
        yield "num-layers", said.pipeline, f"{said.pipeline}, the pipeline degree"
    if said.context > 1:
        unit = 2 * said.context
        yield "seq-length", unit, f"{unit}, twice the context degree"
    copies = _copies(work, said)
    micro = said.number("micro-batch-size")
    if copies and micro and "rampup-batch-size" not in said.given:
        unit = micro * copies
        shown = f"{unit}: {micro} samples of each of {copies} copies"
        yield "global-batch-size", unit, shown


def _copies(work: Work, said: Megatron) -> int:
    """The copies of the model, each with samples of its own; 0 where they are not known, or no whole number."""
    if work.nodes is None:
        return 0
    processes = processes_of(work, said.given.get("nproc-per-node"))
    ranks = work.nodes * processes
    copies, rest = divmod(ranks, prod(said.degrees))
    return 0 if rest else copies
