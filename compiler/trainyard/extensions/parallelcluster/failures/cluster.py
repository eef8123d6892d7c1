"""What happens to a run when its job leaves the spec, without the head node, and with another version."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.extensions.forecast.failures.footing import Footing, From, Repeated, saved_at_the_end
from trainyard.extensions.forecast.failures.outcome import Failure, Outcome, runs_on
from trainyard.extensions.forecast.planned import PlannedCluster
from trainyard.extensions.parallelcluster.failures.slurm import KILL, value
from trainyard.language.units import Duration

_HEAD = "slurmctld(8), Slurm 24.11: running jobs are preserved; ParallelCluster user guide, shared storage"


def leaves(planned: PlannedCluster, job: Footing) -> Outcome:
    """Whoever runs ``jobs.sh`` ends it."""
    grace = value(planned, KILL)
    return Outcome(
        failure=Failure.LEAVES,
        job=job,
        notices="whoever runs `jobs.sh`",
        acts=f"`jobs.sh` cancels it: SIGTERM, then SIGKILL after {Duration(grace)}",
        resumes=From.NOTHING,
        needs="the job in the spec again",
        repeated=saved_at_the_end(job, grace),
        source="Slurm documentation, scancel and slurm.conf KillWait",
    )


def head_lost(job: Footing) -> Outcome:
    """slurmctld is gone, and slurmd on each node goes on."""
    acts = (
        "nothing starts, and nothing is put back into a queue, until the head node is there again; what reads /home "
        "waits, since the head node has it"
    )
    return runs_on(Failure.CONTROLLER, job, acts, source=_HEAD)


def upgrades(planned: PlannedCluster, job: Footing) -> Iterator[Outcome]:
    """Another version of ParallelCluster is another cluster: what people do for it stands in the release."""
    release = planned.catalog.release(planned.plan.release)
    component = release.components.get("parallelcluster") if release is not None else None
    if component is None:
        return
    for upgrade in component.upgrades:
        yield Outcome(
            failure=Failure.UPGRADE,
            job=job,
            of=f"parallelcluster {component.version}",
            notices="people, who do it when no job runs",
            acts=upgrade.summary,
            resumes=From.NOTHING,
            needs="the job in the new cluster",
            repeated=Repeated(0, 0),
            source="; ".join(upgrade.sources),
        )
