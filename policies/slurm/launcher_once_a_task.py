from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pods.plan import GPU
from trainyard.extensions.parallelcluster.batch.plan import BatchJob
from trainyard.judge.model.command import launches, named_options
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.units import count


@rule("SLM027")
def launcher_once_a_task(job: BatchJob) -> Iterator[Finding]:
    """srun starts torchrun several times on each node, and each of them starts a process for every GPU.

    torchrun starts the ranks of a node by itself, so Slurm starts one of it on each node (PyTorch, torchrun;
    Slurm documentation, srun: a task for each of `--ntasks-per-node`). With a task for each GPU as well, eight times
    as many processes share the GPUs, and NCCL refuses: "Duplicate GPU detected".

    ## Fails

        #!/bin/bash
        #SBATCH --nodes=4
        #SBATCH --ntasks-per-node=8
        #SBATCH --gpus-per-node=8
        srun torchrun --nnodes=4 --nproc-per-node=8 --rdzv_backend=c10d --rdzv_endpoint=$(hostname):29500 train.py

    ## Passes

        #!/bin/bash
        #SBATCH --nodes=4
        #SBATCH --ntasks-per-node=1
        #SBATCH --gpus-per-node=8
        srun torchrun --nnodes=4 --nproc-per-node=8 --rdzv_backend=c10d --rdzv_endpoint=$(hostname):29500 train.py

        #!/bin/bash
        #SBATCH --nodes=4
        #SBATCH --ntasks-per-node=8
        #SBATCH --gpus-per-node=8
        srun --ntasks-per-node=1 torchrun --nnodes=4 --nproc-per-node=8 --rdzv_backend=c10d \\
          --rdzv_endpoint=$(hostname):29500 train.py
    """
    tasks = job.tasks
    words = (*job.command, *job.args)
    if tasks is None or tasks < 2 or not launches(words):
        return
    gpus = job.limits.get(GPU)
    processes = count(named_options(words).get("nproc-per-node"))
    if gpus is None or processes is None or tasks * processes <= gpus.value:
        return
    yield Finding(
        f"job `{job.name}` starts torchrun {tasks} times on each node, and each starts {processes} processes for "
        f"{gpus} GPUs",
        job.where("tasks"),
        label="processes share GPUs, and NCCL refuses",
        help="write `--ntasks-per-node=1`",
    )
