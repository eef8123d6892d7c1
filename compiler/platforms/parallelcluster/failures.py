"""What becomes of the jobs of ParallelCluster when something fails: Slurm puts them back into their queue."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.core.pools.launcher import Launcher
from compiler.core.pools.pools import DIAGNOSTICS
from compiler.failures.footing import Footing, From, saved_at_the_end
from compiler.failures.outcome import Failure, Outcome, restarted, runs_on
from compiler.failures.parts import Part, gone, hangs, new_node, noticed, pulled, started
from compiler.failures.setting import Setting
from compiler.failures.xids import GPU, classes, named, source
from compiler.failures.zones import others, zone_again, zones_of
from compiler.plan.units import Duration
from compiler.platforms.parallelcluster.batch.plan import BatchJob
from compiler.platforms.parallelcluster.cluster.plan import SlurmCluster
from compiler.platforms.parallelcluster.partitions.plan import Partition

# aws-parallelcluster-cookbook f75d84c3, slurm.conf: SlurmdTimeout and KillWait, in seconds.
_SILENT = ("SlurmdTimeout", 180)
_KILL = ("KillWait", 30)
LOOKS = Duration.minutes(1)
"""How often the head node looks for nodes that are down (aws-parallelcluster-node, clustermgtd: loop_time)."""
_NODES = (
    "aws-parallelcluster-cookbook, slurm.conf: SlurmdTimeout; aws-parallelcluster-node, clustermgtd"
)
_SLURM = "Slurm documentation, sbatch --requeue"
_HEAD = "slurmctld(8), Slurm 24.11: running jobs are preserved; ParallelCluster user guide, shared storage"
# The level of DCGM's diagnostics before a job (ParallelCluster user guide, HealthChecks / Gpu).
_TEST = 2

__all__ = ["outcomes"]


def outcomes(setting: Setting, job: Footing) -> Iterator[Outcome]:
    """The outcome of each failure of a job, in the order of ``Failure``."""
    yield _node_lost(setting, job)
    if job.work.accelerator is not None and job.work.accelerator[0] == GPU:
        for failure, codes in classes(setting.catalog).items():
            yield _xid(setting, job, failure, codes)
    yield _zone_lost(setting, job)
    yield from _block_ends(setting, job)
    yield _leaves(setting, job)
    yield _head_lost(job)
    yield from _upgrade(setting, job)


def _value(setting: Setting, named: tuple[str, int]) -> int:
    """The seconds of a parameter of ``slurm.conf``: what the cluster says, or else ParallelCluster's own."""
    name, seconds = named
    cluster = setting.plan.one(SlurmCluster)
    settings = dict(cluster.settings) if cluster is not None else {}
    given = str(settings.get(name, seconds))
    return int(given) if given.isdigit() else seconds


def _node_lost(setting: Setting, job: Footing) -> Outcome:
    silent = _value(setting, _SILENT)
    known = f"Slurm takes the node for down after {Duration(silent)}"
    notice, notices = noticed(silent, known, silent), known
    if job.stopped > 1:
        words = (
            f"its peers by an error at once, which ends all (`srun --kill-on-bad-exit`); {known}"
        )
        notice, notices = noticed(silent, words), words
    hung = _hung(job)
    ended = gone(job.peers_end, silent + LOOKS.seconds, notice, hung)
    parts = (
        notice,
        ended,
        new_node(0, job.spare),
        *_tested(setting, job),
        pulled(),
        _queue(setting, job),
        started(),
    )
    acts = f"the head node replaces the node within {LOOKS}; {_again(job)}"
    return restarted(Failure.NODE, job, notices, acts, parts, source=f"{_NODES}; {_SLURM}")


def _xid(setting: Setting, job: Footing, failure: Failure, codes: tuple[int, ...]) -> Outcome:
    notice, notices = hangs()
    ended = Part("processes end", *job.ends, _hung(job))
    acts = _again(job)
    node: tuple[Part, ...] = ()
    if failure is not Failure.PROGRAM:
        node, words = _replaced(setting, job)
        acts = f"{words}; {acts}"
    parts = (notice, ended, *node, *_tested(setting, job), _queue(setting, job), started())
    facts = f"{source(setting.catalog, failure)}; {_SLURM}"
    return restarted(failure, job, notices, acts, parts, of=named(codes), source=facts)


def _replaced(setting: Setting, job: Footing) -> tuple[tuple[Part, ...], str]:
    """The node with a sick GPU is found by the test before the next start, or by nobody."""
    if _tests_gpus(setting, job):
        words = "DCGM's test before each job drains the node, and the head node replaces it"
        return (new_node(0, job.spare), pulled()), words
    why = "nobody tests GPUs (`HealthChecks.Gpu` is off): Slurm may start the job on the same node"
    return (Part("new node", 0, None, why),), why


def _zone_lost(setting: Setting, job: Footing) -> Outcome:
    found = others(setting, job)
    places = [f"nodes of pool {name} in {zones}" for name, zones in found.items()]
    needs = zone_again(setting, job) or ", or ".join(places)
    silent = _value(setting, _SILENT)
    notices = f"Slurm takes its nodes for down after {Duration(silent)}"
    parts = (noticed(silent, notices), Part("capacity", 0, None, "not known"), pulled(), started())
    zones = " or ".join(zones_of(setting, job.work.job.pool))
    acts = f"{_again(job)}; the head node fails too, if it is in the same zone"
    return restarted(
        Failure.ZONE, job, notices, acts, parts, of=zones, needs=needs, holds=False, source=_NODES
    )


def _block_ends(setting: Setting, job: Footing) -> Iterator[Outcome]:
    pool = job.work.job.pool
    if not setting.is_block(pool):
        return
    later = [name for name in job.work.job.fallbacks if not setting.is_block(name)]
    if later:
        needs = f"nodes of pool {' or '.join(later)}"
        rest: tuple[Part, ...] = (new_node(0, job.spare), _queue(setting, job))
    else:
        needs = f"another block: partition {pool} has no nodes then"
        why = "until the partition has another block, which is not known"
        rest = (Part("capacity", 0, None, why),)
    yield restarted(
        Failure.BLOCK,
        job,
        f"nobody, before EC2 takes the instances, {Launcher.block_notice} before the block's end",
        f"nobody tells the program; {_again(job)}",
        (*rest, pulled(), started()),
        of=pool,
        needs=needs,
        holds=False,
        source=Launcher.block_source,
    )


def _leaves(setting: Setting, job: Footing) -> Outcome:
    grace = _value(setting, _KILL)
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


def _head_lost(job: Footing) -> Outcome:
    acts = (
        "nothing starts, and nothing is put back into a queue, until the head node is there again; what reads /home "
        "waits, since the head node has it"
    )
    return runs_on(Failure.CONTROLLER, job, acts, source=_HEAD)


def _upgrade(setting: Setting, job: Footing) -> Iterator[Outcome]:
    """Another version of ParallelCluster is another cluster: what people do for it stands in the release."""
    release = setting.catalog.release(setting.plan.release)
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
            repeated=job.repeated,
            source="; ".join(upgrade.sources),
        )


def _again(job: Footing) -> str:
    if not job.retries:
        return "nothing starts it again"
    often = "once" if job.retries == 1 else f"{job.retries} times at most"
    return f"Slurm puts it back into its queue, {often}"


def _hung(job: Footing) -> str:
    least, most = (Duration(seconds) for seconds in job.hung)
    return f"torchrun waits {least} to {most} for ranks that hang"


def _tests_gpus(setting: Setting, job: Footing) -> bool:
    partitions = [each for each in setting.plan.of(Partition) if each.title == job.work.job.pool]
    return any(partition.gpu_check for partition in partitions)


def _tested(setting: Setting, job: Footing) -> tuple[Part, ...]:
    """The test of GPUs before each start."""
    if not _tests_gpus(setting, job):
        return ()
    takes = DIAGNOSTICS[_TEST].seconds
    why = f"DCGM's diagnostics at level {_TEST} before each job (NVIDIA DCGM 4.6, dcgmi diag)"
    return (Part("test of GPUs", takes, takes, why),)


def _queue(setting: Setting, job: Footing) -> Part:
    """Until Slurm starts it again: others of its partition may be before it."""
    run = job.work.job
    mine = set(run.partitions) if isinstance(run, BatchJob) else set()
    others = [
        other.source_name
        for other in setting.plan.of(BatchJob)
        if other.source_name != run.source_name and mine & set(other.partitions)
    ]
    if not others:
        return Part("queue", 0, 0, "no other job of the spec is in its partition")
    why = (
        f"{', '.join(others)} of the same partition may start first: how long it waits is not known"
    )
    return Part("queue", 0, None, why)
