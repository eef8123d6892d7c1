from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.judge.model.command import launches, named_options, starts
from trainyard.judge.model.gangs import copies
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule


@rule("RUN026", gangs=True, roles=True)
def launcher_without_hosts(work: Work) -> Iterator[Finding]:
    """A launcher on several nodes has no list of the other nodes.

    `deepspeed` reads them from a host file only, by default `/job/hostfile`; without one it trains "with local
    resources only" (DeepSpeed, launcher/runner.py): each node then trains by itself. `accelerate launch` with
    `--num_machines` above 1 and no `--main_process_ip` meets at the host `None` (accelerate, utils/launch.py, July
    2026); without `--num_machines` it takes what Trainer sets. `mpirun` starts its processes on the
    hosts of a list, and without one on its own (Open MPI, mpirun); runtimes of Trainer with an `mpi` policy have one.
    In a job of Slurm it asks Slurm for the hosts, and starts its processes by `srun` (Open MPI, launching with Slurm),
    which is not in the container of `srun --container-image` (NVIDIA pyxis), on each node of which it runs.

    ## Fails

        jobs: [{name: llama, command: [deepspeed, train.py, --deepspeed, ds.json]}]

        jobs: [{name: llama, command: [mpirun, -np, "32", python, train.py]}]

        jobs: [{name: llama, command: [bash, -c, "pip install -e . && accelerate launch --num_machines 4 train.py"]}]

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
                    command: [deepspeed, train.py, --deepspeed, ds.json],
                    volumeMounts: [{name: shm, mountPath: /dev/shm}],
                    resources: {limits: {cpu: 90, memory: 1000Gi, nvidia.com/gpu: 8, vpc.amazonaws.com/efa: 4,
                      hugepages-2Mi: 5Gi}}}]
                  volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: 64Gi}}]

    ## Passes

        jobs: [{name: llama, command: [bash, -c, "pip install deepspeed && torchrun train.py --deepspeed ds.json"]}]

        jobs: [{name: llama, command: [accelerate, launch, train.py]}]

        jobs: [{name: llama, command: [deepspeed, --hostfile=/etc/hosts.txt, train.py]}]

        jobs: [{name: llama, command: [mpirun, --hostfile, /data/hosts, -np, "32", python, train.py]}]

        jobs:
          - name: llama
            command: [accelerate, launch, --num_machines=4, --num_processes=32, --machine_rank=$(PET_NODE_RANK),
              --main_process_ip=$(PET_MASTER_ADDR), train.py]

        jobs: [{name: llama, launcher: {mpi: {}}, command: [mpirun, python, train.py]}]
    """
    if not work.gang or copies(work) == 1 or launches(work.words):
        return
    launcher = _mpi(work)
    if starts(work.words, "deepspeed"):
        if not _has_host_file(work):
            yield Finding(
                f"{work.title} runs `deepspeed` on {work.nodes} nodes without a host file",
                work.where_said("deepspeed"),
                label="each node trains alone",
                help=f"start it by `torchrun`{_given(work)}, or write `--hostfile`",
            )
    elif launcher and not _has_hosts(work):
        yield Finding(
            f"{work.title} runs `{launcher}` on {work.nodes} nodes and does not say on which hosts",
            work.where_said(launcher),
            label="each node runs all processes by itself",
            help=_mpi_help(work),
            spec_help=_mpi_key(work),
        )
    elif starts(work.words, "accelerate"):
        yield from _accelerate(work)


def _accelerate(work: Work) -> Iterator[Finding]:
    given = named_options(work.words)
    machines = given.get("num-machines") or ""
    if "main-process-ip" in given or "config-file" in given:
        return
    if machines.isdecimal() and int(machines) > 1:
        yield Finding(
            f"{work.title} runs `accelerate` on {machines} machines and does not say where they meet",
            work.where_said("num-machines"),
            label="no node finds another",
            help=_accelerate_help(work),
        )


def _given(work: Work) -> str:
    """Where torchrun gets the nodes from, in a sentence; empty where the command says it."""
    if work.own_sets:
        return ""
    return ", which gets all nodes from Trainer" if work.trainer and work.has_pods else ""


def _mpi_key(work: Work) -> str:
    if not work.has_pods:
        return ""
    return "write `launcher: {mpi: {}}`, which gives it the hosts, or write `--hostfile`"


def _mpi_help(work: Work) -> str:
    if not work.has_pods:
        return "start the program by `torchrun`: the batch script starts it on every node"
    if work.own_sets:
        return "make it an MPIJob, which has a list of the hosts, or write `--hostfile`"
    return "choose a runtime with an `mpi` policy, which has the hosts, or write `--hostfile`"


def _accelerate_help(work: Work) -> str:
    if work.own_sets:
        return "add `--main_process_ip` with the host of the first pod, and `--machine_rank` with the index of the pod"
    if work.has_pods:
        return (
            "remove `--num_machines`: Trainer's variables say it, or add "
            "`--main_process_ip=$(PET_MASTER_ADDR)` and `--machine_rank=$(PET_NODE_RANK)`"
        )
    words = work.node_words
    rank = words.own_rank("--machine_rank")
    return f"add `--main_process_ip` with {words.first}, and {rank}"


_MPI = ("mpirun", "mpiexec", "horovodrun")
_HOSTS = r"--?(H|host|hosts|f|hostfile|machinefile|host-file|default-hostfile)"
_FROM_OUTSIDE = (
    "OMPI_MCA_orte_default_hostfile",
    "PRTE_MCA_prte_default_hostfile",
    "HYDRA_HOST_FILE",
)


def _has_host_file(work: Work) -> bool:
    """Whether DeepSpeed has a host file: by an option, or mounted at its default path."""
    if any(re.search(r"hostfile|(^|\s)-H(\s|$)", word) for word in work.words):
        return True
    return any(folder.path.rstrip("/") in _JOB for folder in work.folders)


_JOB = ("/job", "/job/hostfile")


def _mpi(work: Work) -> str:
    """The launcher of MPI that the command starts, where no runtime gives it the hosts."""
    if work.framework == "mpi":
        return ""
    in_batch = not work.has_pods and work.image is not None
    if work.runtime is None and not work.own_sets and not in_batch:
        return ""
    launchers = (launcher for launcher in _MPI if starts(work.words, launcher))
    return next(launchers, "")


def _has_hosts(work: Work) -> bool:
    if any(name in work.env for name in _FROM_OUTSIDE):
        return True
    parts = " ".join(work.words).split()
    names = [part.partition("=")[0] for part in parts]
    return any(re.fullmatch(_HOSTS, name) for name in names)
