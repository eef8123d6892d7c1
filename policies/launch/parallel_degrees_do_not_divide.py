from __future__ import annotations

from collections.abc import Iterator
from math import prod

from trainyard.judge.model.megatron import DEGREES, megatron_of, processes_of
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule


@rule("RUN082", gangs=True, roles=True)
def parallel_degrees_do_not_divide(work: Work) -> Iterator[Finding]:
    """The ranks of a job cannot be divided as its options for Megatron say.

    Megatron's data parallel degree is what is left: all ranks by tensor × pipeline × context. Where that is no whole
    number it ends with "world size (…) is not divisible by total_model_size" (Megatron-LM,
    megatron/training/arguments.py). What `model.parallel` of a spec says is RES064.

    ## Fails

        jobs: [{name: llama, command: [torchrun, pretrain.py, --tensor-model-parallel-size, "8",
          --pipeline-model-parallel-size, "3"]}]

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
                    command: [torchrun, pretrain.py, "--tensor-model-parallel-size=3"],
                    volumeMounts: [{name: shm, mountPath: /dev/shm}],
                    resources: {limits: {cpu: 90, memory: 1000Gi, nvidia.com/gpu: 8, vpc.amazonaws.com/efa: 4,
                      hugepages-2Mi: 5Gi}}}]
                  volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: 64Gi}}]

    ## Passes

        jobs: [{name: llama, command: [torchrun, pretrain.py, --tensor-model-parallel-size, "8",
          --pipeline-model-parallel-size=4]}]
    """
    said = megatron_of(work)
    if said is None or work.nodes is None:
        return
    if work.accelerator is None:
        return
    each = processes_of(work, said.given.get("nproc-per-node"))
    ranks = work.nodes * each  # 0 where they are not known
    model = prod(said.degrees)
    if ranks % model:
        shown = " × ".join(map(str, said.degrees))
        division = f"{work.nodes} nodes of {each}"
        option = next(name for name in DEGREES if name in said.given)
        yield Finding(
            f"{work.title} has {ranks} ranks ({division}), "
            f"and its model is divided by {shown} = {model}",
            work.where_said(option),
            label="not a whole number of replicas",
            help=f"write degrees whose product divides {ranks}",
        )
