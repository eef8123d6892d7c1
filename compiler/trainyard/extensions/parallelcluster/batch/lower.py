"""Lower: a batch script for each job."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.extensions.parallelcluster.batch.plan import BatchJob
from trainyard.extensions.parallelcluster.batch.script import lines, origins_of
from trainyard.output import Artifact
from trainyard.plan import Plan

FOLDER = "jobs"


def lower(plan: Plan) -> Iterator[Artifact]:
    """A file a job, by the name that the spec gives it."""
    for job in plan.of(BatchJob):
        made = list(lines(job))
        text = "\n".join(line for line, _ in made) + "\n"
        yield Artifact(
            path=f"{FOLDER}/{job.namespace}/{job.source_name}.sbatch",
            at=job.at,
            origins=origins_of(job, made),
            text=text,
            format="sbatch",
        )
