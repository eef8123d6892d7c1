from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.core.pods.plan import GPU
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity

_PYTHON = (
    r"(?:^|[;&|(\n]|\bexec\s)\s*(?:\S*/)?python[0-9.]*\s+(?:-u\s+)?"
    r"(?P<what>[\w./$-]*train[\w.-]*\.py|-m\s+[\w.]*train[\w.]*)(?=\s|$)"
)
_OTHERS = (
    r"torchrun|torch\.distributed|accelerate|deepspeed|mpirun|mpiexec|srun|horovod|composer|colossalai|\bray\b"
    r"|\btune\b|spawn|PET_|LOCAL_RANK|NODE_RANK|MASTER_ADDR|WORLD_SIZE|trainer\.num_nodes|num_machines"
)
_RANKS = ("RANK", "LOCAL_RANK", "NODE_RANK", "GROUP_RANK", "WORLD_SIZE", "MASTER_ADDR")


@rule("RUN122", roles=True, severity=Severity.WARNING)
def program_without_launcher(work: Work, world: World) -> Iterator[Finding]:
    """A training script is started by Python alone on several nodes with GPUs.

    Trainer starts one container a node, the batch script of a spec one task a node (`--ntasks-per-node=1`), and both
    set `PET_*`, which torchrun reads; PyTorch's `RANK`, `WORLD_SIZE` and `MASTER_ADDR` are set by torchrun for each
    process (trainer v2.3.0, torch plugin; PyTorch, torchrun). Without it each node trains by itself, on one of its
    GPUs. Silent where anything in the command or the variables may say the ranks or start processes, and in scripts
    of others, whose `srun` starts as many tasks as it is told.

    ## Fails

        jobs: [{name: llama, command: [python, train.py]}]

        jobs: [{name: llama, command: [bash, -c, "cd /workspace && python3 -u src/train_llm.py --epochs 3"]}]

        jobs: [{name: llama, command: [python, -m, team.train, --epochs, "3"]}]

    ## Passes

        jobs: [{name: llama, command: [torchrun, train.py]}]

        jobs: [{name: llama, nodes: 1, command: [python, train.py]}]

        jobs: [{name: llama, command: [bash, -c, "python prepare.py && torchrun train.py"]}]

        jobs: [{name: llama, command: [bash, -c, "RANK=$PET_NODE_RANK python train.py"]}]

        jobs: [{name: llama, launcher: {jax: {}}, command: [python, train.py]}]
    """
    if not work.gang or not _one_process_a_node(work, world):
        return
    if work.accelerator is None or work.accelerator[0] != GPU:
        return
    line = " ".join(work.words)
    if "python" not in line:
        return
    found = re.search(_PYTHON, line)
    if found is None or re.search(_OTHERS, line):
        return
    if any(name in work.env for name in _RANKS):
        return
    script = found["what"]
    instead = ", ".join(["torchrun", *script.split()])
    yield Finding(
        f"{work.title} starts `{script}` by Python alone on {work.nodes} nodes of {work.accelerator[1]} GPUs",
        work.where_said(script.split()[-1]),
        label="each node trains by itself",
        help=f"start it by torchrun: `[{instead}]`; it takes nodes and processes from `PET_*`",
    )


def _one_process_a_node(work: Work, world: World) -> bool:
    """Whether the program of a job is started once on each node."""
    if not work.has_pods:
        return world.plan.closed  # a batch script that is written here
    return work.framework == "torch" and work.trainer
