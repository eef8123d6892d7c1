"""What runs a job on Slurm: a batch script."""

from __future__ import annotations

from trainyard.core.jobs.job import Job, Kind

HEAD = "$MASTER_ADDR"
"""The first node of a job, which its script finds out when it starts."""
RUN = "$SLURM_JOB_ID"


class BatchScript(Kind):
    """A script that ``sbatch`` takes: it holds all nodes of the job, and starts the program on each by ``srun``."""

    name = "BatchJob"
    restarts_gang = True
    port = "$MASTER_PORT"
    chooses = (
        "all nodes come from the partition in which the job starts first, whatever their order"
    )
    chooses_source = "Slurm documentation, sbatch: --partition"

    def host(self, job: Job, name: str) -> str:
        return HEAD


BATCH = BatchScript()
