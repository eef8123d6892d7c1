from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.core.pods.plan import GPU
from trainyard.judge.model.command import launches, named_options, starts
from trainyard.judge.model.gangs import copies
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity
from trainyard.language.units import count

_NESTED = r"(?:torchrun|torch\.distributed\.run)\b[^;&|]*\baccelerate[.\s]"
_FABRIC = r"(?:fabric|lightning) run"
_LIGHTNING = r"(?:^|\s)(?:--)?trainer\.num_nodes[=\s]+(\d+)(?=\s|$)"


@rule("RUN121", gangs=True, roles=True)
def node_started_twice(work: Work) -> Iterator[Finding]:
    """Accelerate or Lightning takes every node for the same one, or starts processes that run already.

    `accelerate launch` divides `--num_processes` by `--num_machines`, which is 1 unless it is given, and with more
    than one takes the rank of the node from `--machine_rank` alone (accelerate, utils/launch.py
    prepare_multi_gpu_env): all pods of a job have the same command. Under torchrun it starts every process again.
    By itself it starts torchrun, which takes the nodes that Trainer sets, but only with several GPUs in a pod,
    `--multi_gpu`, FSDP, DeepSpeed or Megatron-LM; else it starts the program alone, and each node trains its own
    model (accelerate, commands/launch.py, _validate_launch_command and launch_command). A default configuration in
    the image may say otherwise: a warning.

    Lightning takes the rank of a node from `NODE_RANK`, and without torchrun is the first on each (lightning,
    fabric/plugins/environments/lightning.py); under torchrun it refuses a `num_nodes` that is not the job's
    (torchelastic.py, validate_settings). Trainer sets `PET_*` alone, which torchrun reads. `fabric run` (`lightning run
    model` before 2.3) starts torchrun with a number of nodes and a rank of its own, one and 0 unless they are given
    (lightning, fabric/cli.py, _torchrun_launch).

    ## Fails

        jobs: [{name: llama, command: [accelerate, launch, --multi_gpu, --num_processes=32, train.py]}]

        jobs: [{name: llama, command: [bash, -c, "accelerate launch --num_machines 4 --num_processes 32 --machine_rank 0
          --main_process_ip $PET_MASTER_ADDR train.py"]}]

        jobs: [{name: llama, command: [bash, -c, "accelerate launch --num_machines=4 --num_processes=32
          --main_process_ip=$PET_MASTER_ADDR train.py"]}]

        jobs: [{name: llama, command: [bash, -c, "accelerate launch --num_machines=4 --num_processes=8
          --machine_rank=$PET_NODE_RANK --main_process_ip=$PET_MASTER_ADDR train.py"]}]

        nodePools: [{name: gpu, instanceTypes: [g6e.8xlarge], zones: [us-west-2b], nodes: {max: 4}}]
        jobs: [{name: llama, command: [accelerate, launch, train.py]}]

        nodePools: [{name: gpu, instanceTypes: [g6e.8xlarge], zones: [us-west-2b], nodes: {max: 4}}]
        jobs: [{name: llama, command: [accelerate, launch, --num_processes=4, train.py]}]

        jobs: [{name: llama, command: [torchrun, -m, accelerate.commands.launch, train.py]}]

        jobs: [{name: llama, command: [bash, -c, "torchrun --no-python accelerate launch train.py"]}]

        jobs: [{name: llama, command: [python, main.py, fit, --trainer.num_nodes=4, --trainer.devices=8]}]

        jobs: [{name: llama, command: [fabric, run, --devices=8, train.py]}]

        jobs: [{name: llama, command: [bash, -c, "lightning run model --num-nodes=4 --node-rank=0 train.py"]}]

        jobs: [{name: llama, command: [torchrun, main.py, fit, --trainer.num_nodes, "1"]}]

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
                    command: [accelerate, launch, --multi_gpu, --num_processes=16, train.py],
                    volumeMounts: [{name: shm, mountPath: /dev/shm}],
                    resources: {limits: {cpu: 90, memory: 1000Gi, nvidia.com/gpu: 8, vpc.amazonaws.com/efa: 4,
                      hugepages-2Mi: 5Gi}}}]
                  volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: 64Gi}}]

    ## Passes

        jobs: [{name: llama, command: [accelerate, launch, --mixed_precision=bf16, train.py]}]

        jobs: [{name: llama, command: [accelerate, launch, --multi_gpu, --num_processes=8, train.py]}]

        nodePools: [{name: gpu, instanceTypes: [g6e.8xlarge], zones: [us-west-2b], nodes: {max: 4}}]
        jobs: [{name: llama, command: [accelerate, launch, --multi_gpu, train.py]}]

        nodePools: [{name: gpu, instanceTypes: [g6e.8xlarge], zones: [us-west-2b], nodes: {max: 4}}]
        jobs: [{name: llama, command: [accelerate, launch, --use_fsdp, train.py]}]

        nodePools: [{name: gpu, instanceTypes: [g6e.8xlarge], zones: [us-west-2b], nodes: {max: 4}}]
        jobs: [{name: llama, nodes: 1, command: [accelerate, launch, train.py]}]

        jobs: [{name: llama, command: [bash, -c, "accelerate launch --num_machines=4 --num_processes=32
          --machine_rank=$PET_NODE_RANK --main_process_ip=$PET_MASTER_ADDR train.py"]}]

        jobs: [{name: llama, command: [torchrun, main.py, fit, --trainer.num_nodes=4, --trainer.devices=8]}]

        jobs: [{name: llama, command: [bash, -c, "fabric run --num-nodes=4 --node-rank=$PET_NODE_RANK
          --main-address=$PET_MASTER_ADDR --devices=8 train.py"]}]

        jobs: [{name: llama, nodes: 1, command: [fabric, run, --devices=8, train.py]}]

        jobs: [{name: llama, nodes: 1, command: [python, main.py, fit, --trainer.num_nodes=1]}]

        jobs: [{name: llama, command: [bash, -c, "NODE_RANK=$PET_NODE_RANK MASTER_ADDR=$PET_MASTER_ADDR
          python main.py fit --trainer.num_nodes=4"]}]
    """
    if not work.gang or work.framework == "mpi" or copies(work) == 1:
        return
    line = " ".join(work.words)
    if "accelerate" in line and re.search(_NESTED, line):
        yield Finding(
            f"torchrun starts `accelerate launch` in {work.title}, which starts the processes again",
            work.where_said("accelerate"),
            label="every process becomes many",
            help="start the program by torchrun alone: Accelerate takes what torchrun sets",
        )
    elif "accelerate" in line and starts(work.words, "accelerate"):
        yield from _accelerate(work)
    elif " run" in line and re.search(rf"(?:^|[\s;&|/]){_FABRIC}\s", line):
        yield from _fabric(work)
    elif "trainer.num_nodes" in line:
        yield from _lightning(work, line)


# The options by which Accelerate starts torchrun.
_DISTRIBUTED = frozenset({"multi-gpu", "use-fsdp", "use-deepspeed", "use-megatron-lm"})


def _accelerate(work: Work) -> Iterator[Finding]:
    given = named_options(work.words)
    if "config-file" in given or work.accelerator is None:
        return
    machines = count(given.get("num-machines")) or 1
    processes = count(given.get("num-processes"))
    gpus = work.accelerator[1]
    rank = given.get("machine-rank")
    if work.accelerator == (GPU, 1) and _DISTRIBUTED.isdisjoint(given):
        yield Finding(
            f"`accelerate launch` of {work.title} starts its program alone on each of {work.nodes} nodes: "
            "with one GPU it joins no others",
            work.where_said("accelerate"),
            label="each node trains a model of its own",
            help="start the program by torchrun: `torchrun train.py`; Accelerate takes what torchrun sets",
            severity=Severity.WARNING,
        )
        return
    if machines > 1 and "main-process-ip" not in given:
        return  # RUN026 reports that no node finds another
    if machines > 1 and (rank is None or rank.isdecimal()):
        what = f"`--machine_rank` {rank} on all of them" if rank else "no `--machine_rank`"
        yield Finding(
            f"{work.title} runs `accelerate` on {work.nodes} nodes with {what}",
            work.where_said("machine-rank" if rank else "num-machines"),
            label="every node is the same one",
            help=_rank_help(work),
        )
    elif processes is not None and processes // machines != gpus:
        of = f"{machines} machines" if machines > 1 else "one machine"
        right = gpus * machines
        yield Finding(
            f"`accelerate` of {work.title} starts {processes // machines} processes on each node, which has "
            f"{gpus} accelerators: {processes} for {of}",
            work.where_said("num-processes"),
            label="not one for each accelerator",
            help=f"write `--num_processes={right}`, or remove it",
        )


def _rank_help(work: Work) -> str:
    if work.own_sets:
        return "add `--machine_rank` with a variable of the pod, like the index that its controller gives it"
    if work.has_pods:
        return (
            "add `--machine_rank=$PET_NODE_RANK`; or remove `--num_machines`, "
            "`--num_processes` and `--main_process_ip`: torchrun inside takes what Trainer sets"
        )
    return f"add {work.node_words.own_rank('--machine_rank')}"


def _fabric(work: Work) -> Iterator[Finding]:
    rank = named_options(work.words).get("node-rank")
    if rank is not None and not rank.isdecimal():
        return
    if rank is None:
        what = "no `--node-rank`"
    else:
        what = f"`--node-rank` {rank} on all of them"
    yield Finding(
        f"{work.title} runs Lightning Fabric on {work.nodes} nodes with {what}",
        work.where_said("node-rank" if rank else "run"),
        label="every node is the first, and trains by itself",
        help="start the script by torchrun, which Fabric knows: `torchrun train.py`",
    )


def _lightning(work: Work, line: str) -> Iterator[Finding]:
    said = re.search(_LIGHTNING, line)
    if said is None:
        return
    if launches(work.words):
        if int(said[1]) != work.nodes:
            yield Finding(
                f"{work.title} has {work.nodes} nodes, and Lightning is started for {said[1]}",
                work.where_said("trainer.num_nodes"),
                label="it refuses to start",
                help=f"write `--trainer.num_nodes={work.nodes}`",
            )
        return
    ranked = "NODE_RANK=" in line or "NODE_RANK" in work.env
    if not ranked and work.framework == "torch":
        yield Finding(
            f"{work.title} starts Lightning by itself on {work.nodes} nodes, and nothing sets `NODE_RANK`",
            work.where_said("trainer.num_nodes"),
            label="every node is the first",
            help="start it by `torchrun`, which Lightning knows: `torchrun main.py …`",
        )
