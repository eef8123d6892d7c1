from __future__ import annotations

import re
from collections.abc import Iterator

from compiler.policy.command import launches, options, starts
from compiler.policy.rule import Finding, rule
from compiler.policy.work import Work


@rule("RUN026")
def launcher_without_hosts(work: Work) -> Iterator[Finding]:
    """A launcher on several nodes has no list of the other nodes.

    `deepspeed` reads them from a host file only, by default `/job/hostfile`; without one it trains "with local
    resources only" (DeepSpeed, launcher/runner.py): each node is a run of its own. `accelerate launch` with
    `--num_machines` above 1 and no `--main_process_ip` meets at the host `None` (accelerate, utils/launch.py, July
    2026); without `--num_machines` it takes what Trainer sets. `mpirun` starts its processes on the
    hosts of a list, and without one on its own (Open MPI, mpirun); runtimes of Trainer with an `mpi` policy have one.

    ## Fails

        jobs: [{name: llama, command: [deepspeed, train.py, --deepspeed, ds.json]}]

        jobs: [{name: llama, command: [mpirun, -np, "32", python, train.py]}]

        jobs: [{name: llama, command: [bash, -c, "pip install -e . && accelerate launch --num_machines 4 train.py"]}]

    ## Passes

        jobs: [{name: llama, command: [bash, -c, "pip install deepspeed && torchrun train.py --deepspeed ds.json"]}]

        jobs: [{name: llama, command: [accelerate, launch, train.py]}]

        jobs: [{name: llama, command: [deepspeed, --hostfile=/etc/hosts.txt, train.py]}]

        jobs: [{name: llama, command: [mpirun, --hostfile, /data/hosts, -np, "32", python, train.py]}]

        jobs:
          - name: llama
            command: [accelerate, launch, --num_machines=4, --main_process_ip=$(PET_MASTER_ADDR), train.py]
    """
    if not work.gang or launches(work.words):
        return
    given = dict(options(work.words))
    machines = given.get("num-machines") or ""
    mounted = (
        {mount.path.rstrip("/") for mount in work.main.mounts} if work.main else set()
    )
    if starts(work.words, "deepspeed"):
        told = any(re.search(r"hostfile|(^|\s)-H(\s|$)", word) for word in work.words)
        if not told and not {"/job", "/job/hostfile"} & mounted:
            yield Finding(
                f"job `{work.name}` runs `deepspeed` on {work.nodes} nodes without a host file",
                work.where_said("deepspeed"),
                label="each node trains alone",
                help="start it by `torchrun`, which Trainer tells of all nodes, or write `--hostfile`",
            )
    elif (launcher := _mpi(work)) and not _has_hosts(work):
        yield Finding(
            f"job `{work.name}` runs `{launcher}` on {work.nodes} nodes and does not say on which hosts",
            work.where_said(launcher),
            label="each node runs all processes by itself",
            help="start it by `torchrun`, which Trainer tells of all nodes, or write `--hostfile`",
        )
    elif (
        starts(work.words, "accelerate")
        and machines.isdigit()
        and int(machines) > 1
        and not ({"main-process-ip", "config-file"} & set(given))
    ):
        yield Finding(
            f"job `{work.name}` runs `accelerate` on {machines} machines and does not say where they meet",
            work.where_said("num-machines"),
            label="no node finds another",
            help="remove `--num_machines`: Trainer's variables say it, or add `--main_process_ip=$(PET_MASTER_ADDR)`",
        )


_MPI = ("mpirun", "mpiexec", "horovodrun")
_HOSTS = r"--?(H|host|hosts|f|hostfile|machinefile|host-file|default-hostfile)"
_FROM_OUTSIDE = (
    "OMPI_MCA_orte_default_hostfile",
    "PRTE_MCA_prte_default_hostfile",
    "HYDRA_HOST_FILE",
)


def _mpi(work: Work) -> str:
    """The launcher of MPI that the command starts, where no runtime tells it of the hosts."""
    if work.runtime is None or work.runtime.framework == "mpi":
        return ""
    return next((launcher for launcher in _MPI if starts(work.words, launcher)), "")


def _has_hosts(work: Work) -> bool:
    words = [part for word in work.words for part in word.split()]
    return any(re.fullmatch(_HOSTS, word.partition("=")[0]) for word in words) or any(
        name in work.env for name in _FROM_OUTSIDE
    )
