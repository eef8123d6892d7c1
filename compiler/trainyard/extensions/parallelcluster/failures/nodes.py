"""A node of a job is lost, a GPU of it, all nodes of its zone, or those of its Capacity Block."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pools.launcher import Launcher
from trainyard.extensions.forecast.failures.footing import Footing
from trainyard.extensions.forecast.failures.outcome import Failure, Outcome, restarted
from trainyard.extensions.forecast.failures.parts import (
    Part,
    gone,
    hangs,
    new_node,
    noticed,
    pulled,
    started,
)
from trainyard.extensions.forecast.failures.xids import GPU, classes, named, source
from trainyard.extensions.forecast.failures.zones import others, zone_again, zones_of
from trainyard.extensions.forecast.planned import PlannedCluster
from trainyard.extensions.parallelcluster.failures.slurm import (
    LOOKS,
    NODES,
    REQUEUES,
    SILENT,
    again,
    hung,
    queue,
    tested,
    value,
)
from trainyard.language.units import Duration


def node_lost(planned: PlannedCluster, job: Footing) -> Outcome:
    """Slurm hears nothing of it any more."""
    silent = value(planned, SILENT)
    known = f"Slurm takes the node for down after {Duration(silent)}"
    notice, notices = noticed(silent, known, silent), known
    if job.stopped > 1:
        words = (
            f"its peers by an error at once, which ends all (`srun --kill-on-bad-exit`); {known}"
        )
        notice, notices = noticed(silent, words), words
    ended = gone(job.peers_end, silent + LOOKS.seconds, notice, hung(job))
    parts = (
        notice,
        ended,
        new_node(0, job.spare),
        *tested(planned, job),
        pulled(),
        queue(planned, job),
        started(),
    )
    acts = f"the head node replaces the node within {LOOKS}; {again(job)}"
    return restarted(
        Outcome(
            failure=Failure.NODE,
            job=job,
            notices=notices,
            acts=acts,
            parts=parts,
            source=f"{NODES}; {REQUEUES}",
        )
    )


def xids(planned: PlannedCluster, job: Footing) -> Iterator[Outcome]:
    """The outcome of each class of Xids; nothing of jobs without GPUs of NVIDIA."""
    if job.accelerator != GPU:
        return
    for failure, codes in classes(planned.catalog).items():
        yield _xid(planned, job, failure, codes)


def _xid(
    planned: PlannedCluster, job: Footing, failure: Failure, codes: tuple[int, ...]
) -> Outcome:
    notice, notices = hangs()
    ended = Part("processes end", *job.ends, hung(job))
    acts = again(job)
    node: tuple[Part, ...] = ()
    if failure is not Failure.PROGRAM:
        node = (new_node(0, job.spare), pulled())
        acts = f"DCGM's test before each job drains the node, and the head node replaces it; {acts}"
    parts = (notice, ended, *node, *tested(planned, job), queue(planned, job), started())
    facts = f"{source(planned.catalog, failure)}; {REQUEUES}"
    return restarted(
        Outcome(
            failure=failure,
            job=job,
            notices=notices,
            acts=acts,
            parts=parts,
            of=named(codes),
            source=facts,
        )
    )


def zone_lost(planned: PlannedCluster, job: Footing) -> Outcome:
    """All nodes of its zone are lost, and what lies in that zone."""
    found = others(planned, job)
    places = [f"nodes of pool {name} in {zones}" for name, zones in found.items()]
    needs = zone_again(planned, job) or ", or ".join(places)
    silent = value(planned, SILENT)
    notices = f"Slurm takes its nodes for down after {Duration(silent)}"
    parts = (noticed(silent, notices), Part("capacity", 0, None, "not known"), pulled(), started())
    zones = " or ".join(zones_of(planned, job.gang.pool))
    acts = f"{again(job)}; the head node fails too, if it is in the same zone"
    return restarted(
        Outcome(
            failure=Failure.ZONE,
            job=job,
            notices=notices,
            acts=acts,
            parts=parts,
            of=zones,
            needs=needs,
            holds=False,
            source=NODES,
        )
    )


def block_ends(planned: PlannedCluster, job: Footing) -> Iterator[Outcome]:
    """EC2 takes the instances of its Capacity Block."""
    pool = job.gang.pool
    if not planned.is_block(pool):
        return
    later = [name for name in job.gang.fallbacks if not planned.is_block(name)]
    if later:
        needs = f"nodes of pool {' or '.join(later)}"
        rest: tuple[Part, ...] = (new_node(0, job.spare), queue(planned, job))
    else:
        needs = f"another block: partition {pool} has no nodes then"
        why = "until the partition has another block, which is not known"
        rest = (Part("capacity", 0, None, why),)
    yield restarted(
        Outcome(
            failure=Failure.BLOCK,
            job=job,
            notices=f"nobody, before EC2 takes the instances, {Launcher.block_notice} before the block's end",
            acts=f"nobody tells the program; {again(job)}",
            parts=(*rest, pulled(), started()),
            of=pool,
            needs=needs,
            holds=False,
            source=Launcher.block_source,
        )
    )
