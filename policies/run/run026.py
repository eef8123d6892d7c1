from __future__ import annotations

import re
from collections.abc import Iterator

from compiler.policy.command import launches, options, starts
from compiler.policy.rule import Finding, rule
from compiler.policy.work import Work


@rule("RUN026")
def launcher_without_hosts(work: Work) -> Iterator[Finding]:
    """A launcher on several nodes is not told of the other nodes.

    `deepspeed` reads them from a host file only, by default `/job/hostfile`; without one it trains "with local
    resources only" (DeepSpeed, launcher/runner.py): each node is a run of its own. `accelerate launch` with
    `--num_machines` above 1 and no `--main_process_ip` meets at the host `None` (accelerate, utils/launch.py, July
    2026); without `--num_machines` it takes what Trainer sets.

    ## Fails

        jobs: [{name: llama, command: [deepspeed, train.py, --deepspeed, ds.json]}]

        jobs: [{name: llama, command: [bash, -c, "pip install -e . && accelerate launch --num_machines 4 train.py"]}]

    ## Passes

        jobs: [{name: llama, command: [bash, -c, "pip install deepspeed && torchrun train.py --deepspeed ds.json"]}]

        jobs: [{name: llama, command: [accelerate, launch, train.py]}]

        jobs: [{name: llama, command: [deepspeed, --hostfile=/etc/hosts.txt, train.py]}]

        jobs:
          - name: llama
            command: [accelerate, launch, --num_machines=4, --main_process_ip=$(PET_MASTER_ADDR), train.py]
    """
    if not work.gang or launches(work.words):
        return
    given = dict(options(work.words))
    machines = given.get("num-machines") or ""
    mounted = {each.path.rstrip("/") for each in work.main.mounts} if work.main else set()
    if starts(work.words, "deepspeed"):
        told = any(re.search(r"hostfile|(^|\s)-H(\s|$)", each) for each in work.words)
        if not told and not {"/job", "/job/hostfile"} & mounted:
            yield Finding(
                f"job `{work.name}` runs `deepspeed` on {work.nodes} nodes without a host file",
                work.where_said("deepspeed"), label="each node trains alone",
                help="start it by `torchrun`, which Trainer tells of all nodes, or write `--hostfile`",
            )
    elif starts(work.words, "accelerate") and machines.isdigit() and int(machines) > 1 and not (
        {"main-process-ip", "config-file"} & set(given)
    ):
        yield Finding(
            f"job `{work.name}` runs `accelerate` on {machines} machines and does not say where they meet",
            work.where_said("num-machines"), label="no node finds another",
            help="remove `--num_machines`: Trainer's variables say it, or add `--main_process_ip=$(PET_MASTER_ADDR)`",
        )
