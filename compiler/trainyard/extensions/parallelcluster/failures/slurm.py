"""What Slurm does about a job that has failed, in words and in time."""

from __future__ import annotations

from trainyard.core.pools.pools import DIAGNOSTICS
from trainyard.extensions.forecast.failures.footing import Footing, times
from trainyard.extensions.forecast.failures.parts import Part
from trainyard.extensions.forecast.planned import PlannedCluster
from trainyard.extensions.parallelcluster.batch.plan import BatchJob
from trainyard.extensions.parallelcluster.cluster.plan import SlurmCluster
from trainyard.extensions.parallelcluster.partitions.plan import Partition
from trainyard.language.units import Duration

# aws-parallelcluster-cookbook f75d84c3, slurm.conf: SlurmdTimeout and KillWait, in seconds.
SILENT = ("SlurmdTimeout", 180)
KILL = ("KillWait", 30)
REQUEUED = Duration(70)
"""How long Slurm waits before it starts a job again that is back in its queue (Slurm documentation, slurm.conf:
cred_expire of AuthInfo; aws-parallelcluster-cookbook f75d84c3, slurm.conf)."""
LOOKS = Duration.minutes(1)
"""How often the head node looks for nodes that are down (aws-parallelcluster-node, clustermgtd: loop_time)."""
NODES = (
    "aws-parallelcluster-cookbook, slurm.conf: SlurmdTimeout; aws-parallelcluster-node, clustermgtd"
)
REQUEUES = "Slurm documentation, sbatch --requeue"
# The level of DCGM's diagnostics before a job (ParallelCluster user guide, HealthChecks / Gpu).
_TEST = 2


def value(planned: PlannedCluster, named: tuple[str, int]) -> int:
    """The seconds of a parameter of ``slurm.conf``: what the cluster says, or else ParallelCluster's own."""
    name, seconds = named
    cluster = planned.plan.one(SlurmCluster)
    settings = dict(cluster.settings) if cluster is not None else {}
    given = str(settings.get(name, seconds))
    return int(given) if given.isdecimal() else seconds


def again(job: Footing) -> str:
    """What Slurm starts again, and how often."""
    if not job.retries:
        return "nothing starts it again"
    return f"Slurm puts it back into its queue, {times(job.retries)}"


def hung(job: Footing) -> str:
    """How long processes that hang are waited for, in words."""
    least, most = (Duration(seconds) for seconds in job.hung)
    return f"torchrun waits {least} to {most} for ranks that hang"


def tested(planned: PlannedCluster, job: Footing) -> tuple[Part, ...]:
    """The test of GPUs before each start; of nodes without GPUs there is none."""
    partitions = [each for each in planned.plan.of(Partition) if each.title == job.gang.pool]
    if not any(partition.gpu_check for partition in partitions):
        return ()
    takes = DIAGNOSTICS[_TEST].seconds
    why = f"DCGM's diagnostics at level {_TEST} before each job (NVIDIA DCGM 4.6, dcgmi diag)"
    return (Part("test of GPUs", takes, takes, why),)


def queue(planned: PlannedCluster, job: Footing) -> Part:
    """Until Slurm starts it again: others of its partition may be before it."""
    run = job.gang
    mine = set(run.partitions) if isinstance(run, BatchJob) else set()
    others = [
        other.source_name
        for other in planned.plan.of(BatchJob)
        if other.source_name != run.source_name and mine & set(other.partitions)
    ]
    waits = f"a job that is back in its queue waits {REQUEUED} (cred_expire of slurm.conf)"
    if not others:
        return Part("queue", REQUEUED.seconds, REQUEUED.seconds, waits)
    why = f"{waits}; {', '.join(others)} of the same partition may start first: how long it waits is not known"
    return Part("queue", REQUEUED.seconds, None, why)
