from __future__ import annotations

from collections.abc import Iterator

from trainyard.extensions.parallelcluster.batch.plan import BatchJob
from trainyard.extensions.parallelcluster.partitions.plan import Partition
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics.near import name_meant
from trainyard.plan.base import PlanItem


@rule("SLM001")
def partition_unknown(job: BatchJob, world: World) -> Iterator[Finding]:
    """A batch script names a partition that its cluster does not have.

    `sbatch` refuses it: "invalid partition specified" (Slurm documentation, sbatch --partition). ParallelCluster makes
    one partition of each queue, by its name (ParallelCluster user guide, SlurmQueues). Of others' files the cluster is
    the one whose configuration lies in the folder of the script, or in one above it.

    ## Fails

        Scheduling: {Scheduler: slurm, SlurmQueues: [{Name: gpu}]}
        ---
        #!/bin/bash
        #SBATCH --partition=gpus
        srun python train.py

    ## Passes

        Scheduling: {Scheduler: slurm, SlurmQueues: [{Name: gpu}, {Name: cpu}]}
        ---
        #!/bin/bash
        #SBATCH --partition=gpu,cpu
        srun python train.py

        #!/bin/bash
        #SBATCH --partition=elsewhere
        srun python train.py
    """
    known = [
        partition.name
        for partition in world.plan.of(Partition)
        if world.plan.closed or _folder(job).startswith(_folder(partition))
    ]
    for name in job.partitions if known else ():
        if name not in known:
            yield Finding(
                f"job `{job.name}` goes to partition `{name}`, which the cluster does not have",
                job.where("partitions"),
                label="sbatch refuses it",
                help=name_meant(name, known) or f"write one of its queues, like `{known[0]}`",
            )


def _folder(node: PlanItem) -> str:
    """The folder of the file that a node was read from, with a slash at its end."""
    file = str(node.at[0]) if node.at else ""
    path = file.partition("/")[2]
    return path[: path.rfind("/") + 1]
