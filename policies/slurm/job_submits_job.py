from __future__ import annotations

from collections.abc import Iterator

from trainyard.extensions.parallelcluster.batch.plan import BatchJob
from trainyard.judge.model.statements import started
from trainyard.judge.policy.rule import Finding, rule

_SUBMITS = frozenset({"sbatch", "salloc"})
_BESIDE = frozenset({"cd", "echo", "export", "mkdir", "module", "set", "source", "."})


@rule("SLM025")
def job_submits_job(job: BatchJob) -> Iterator[Finding]:
    """All that a job runs on its nodes is `sbatch` or `salloc`.

    `sbatch` ends as soon as the other job is in the queue (Slurm documentation, sbatch), with success: this one is done
    at once, once for each node, and what is reported, retried and limited is not what trains.

    ## Fails

        #!/bin/bash
        #SBATCH --nodes=2
        srun sbatch train.sh

    ## Passes

        #!/bin/bash
        #SBATCH --nodes=2
        srun torchrun --nnodes=2 train.py
        sbatch --dependency=singleton next.sh
    """
    programs = [each.program for each in started(tuple(job.command))]
    trains = [name for name in programs if name not in _BESIDE]
    if trains and _SUBMITS.issuperset(trains):
        yield Finding(
            f"job `{job.name}` runs `{trains[0]}` on its nodes, and nothing else",
            job.where("command"),
            label="done at once",
            help="write what the other script starts",
        )
