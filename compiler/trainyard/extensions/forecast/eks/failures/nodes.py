"""A node of a job is lost, all nodes of its zone, or those of its Capacity Block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from trainyard.core.pools.waits import NOT_READY
from trainyard.eks.jobs.kinds import kinds
from trainyard.eks.nodes.launchers import chosen
from trainyard.extensions.forecast.eks.failures.repairing import PLUGIN, Repairing
from trainyard.extensions.forecast.eks.failures.restarting import (
    admission,
    again,
    evicted,
    patience,
    then,
)
from trainyard.extensions.forecast.failures.footing import Footing, saved_at_the_end
from trainyard.extensions.forecast.failures.outcome import Failure, Outcome, restarted
from trainyard.extensions.forecast.failures.parts import (
    WATCHDOG,
    Part,
    gone,
    new_node,
    noticed,
    pulled,
    started,
)
from trainyard.extensions.forecast.failures.zones import others, zone_again, zones_of
from trainyard.extensions.forecast.planned import PlannedCluster
from trainyard.language.units import Duration

_SOURCE = "kubernetes 1.36, node lifecycle controller"


def node_lost(planned: PlannedCluster, job: Footing, repair: Repairing) -> Outcome:
    """Its instance has ended, or its kubelet says nothing any more."""
    notice, notices = _silence(job)
    replaced = None if repair.silent is None else NOT_READY.seconds + repair.silent
    replaces = repair.replaces(repair.silent, " of NotReady")
    goes = (
        f"processes of other nodes that hang: {Duration(job.peers_end[1])}; pods of the lost node go with its Node, as "
        f"soon as EC2 reports the end of the instance; else {replaces} ({repair.source})"
    )
    ended = gone(job.peers_end, replaced, notice, goes)
    rest = (ended, *repair.nodes(job, replaced=replaced is not None), pulled())
    parts = (notice, *rest, admission(planned, job, rest), started())
    acts = f"its Node goes as soon as EC2 reports the end of the instance; else {replaces}; {then(job, repair)}"
    return restarted(
        Outcome(
            failure=Failure.NODE,
            job=job,
            notices=notices,
            acts=acts,
            parts=parts,
            source=_source(job),
        )
    )


def _source(job: Footing) -> str:
    kind = kinds().get(job.kind)
    return f"{_SOURCE}; {kind.deletes}" if kind is not None and kind.deletes else _SOURCE


def _silence(job: Footing) -> tuple[Part, str]:
    """Until somebody knows that a node is silent: its peers, or the controller manager."""
    seconds = evicted(job)
    if seconds is None:
        known = f"its Node is NotReady after {NOT_READY}, which its pods tolerate for ever"
    else:
        known = f"its Node is NotReady after {NOT_READY}, and its pods are evicted after {Duration(seconds)}"
    if job.stopped == 1:
        return Part("notice", NOT_READY.seconds, seconds, known), known
    if not job.accelerator:
        words = f"its peers, by an error at once; {known}"
        return Part("notice", 0, seconds, words), words
    words = f"its peers, by an error at once or NCCL's watchdog after {WATCHDOG}; {known}"
    most = min(WATCHDOG.seconds, seconds or WATCHDOG.seconds)
    return noticed(most, f"{words}: what is first"), words


def zone_lost(planned: PlannedCluster, job: Footing, repair: Repairing) -> Outcome:
    """All nodes of its zone are lost, and what lies in that zone."""
    notices = f"its Nodes are NotReady after {NOT_READY}"
    if repair.silent is not None:
        notices += "; so many sick ones are not replaced"
    needs, capacity = _needed_after_zone(planned, job)
    return restarted(
        Outcome(
            failure=Failure.ZONE,
            job=job,
            notices=notices,
            acts=_acts_after_zone(planned, job),
            parts=(noticed(NOT_READY.seconds, notices), capacity, pulled(), started()),
            of=" or ".join(zones_of(planned, job.gang.pool)),
            needs=needs,
            holds=False,
            source=_source(job),
        )
    )


def _needed_after_zone(planned: PlannedCluster, job: Footing) -> tuple[str, Part]:
    """What a job needs to run again once its zone is lost, and how long it waits for that."""
    needs = zone_again(planned, job)
    if needs:
        return needs, Part("capacity", 0, None, "until the zone is back: not known")
    found = others(planned, job)
    needs = ", or ".join(f"nodes of pool {name} in {zones}" for name, zones in found.items())
    if job.gang.pool not in found:
        needs += not_again(job.gang.pool)
    return needs, Part("capacity", 0, None, "until other nodes are there: not known")


def _acts_after_zone(planned: PlannedCluster, job: Footing) -> str:
    """Who starts a job again."""
    recovery = patience(planned, job)
    if recovery is None:
        return again(job)
    return f"{again(job)}; Kueue puts it back into its queue when pods are missing for {recovery}"


def block_ends(planned: PlannedCluster, job: Footing, repair: Repairing) -> Iterator[Outcome]:
    """EC2 takes the instances of its Capacity Block."""
    pool = job.gang.pool
    declared = planned.pool(pool)
    if declared is None or declared.block is None:
        return
    launcher = chosen(planned.spec, declared)
    who, every = launcher.drains_blocks
    notice = Part("notice", 0, None, f"how often {who} looks is not known")
    if every is not None:
        notice = noticed(every.seconds, f"{who} looks every {every}")
    assert job.pod is not None, "jobs of EKS run in pods"
    grace = job.pod.stops_within
    ended = Part("processes end", 0, grace, "`terminationGracePeriodSeconds` of the pods")
    later = [name for name in job.gang.fallbacks if not planned.is_block(name)]
    if later:
        needs = f"nodes of pool {' or '.join(later)}{not_again(pool)}"
        rest: tuple[Part, ...] = (
            _next_pool(planned, job),
            new_node(repair.test, job.spare, PLUGIN),
        )
    else:
        needs = f"another block: pool {pool} has no nodes then"
        why = "until the pool has another block, which is not known"
        rest = (Part("capacity", 0, None, why),)
    outcome = restarted(
        Outcome(
            failure=Failure.BLOCK,
            job=job,
            notices=f"{who}, {launcher.block_notice} before the block's end",
            acts=f"it drains the nodes: pods have {Duration(grace)} to save, and then they are killed",
            parts=(notice, ended, *rest, pulled(), started()),
            of=pool,
            needs=needs,
            holds=False,
            source=launcher.block_source,
        )
    )
    yield replace(outcome, repeated=saved_at_the_end(job, grace))


def not_again(pool: str) -> str:
    """What keeps Kueue from placing a job once more where no nodes are."""
    return f", and `nodes: 0` in the quota of pool {pool}: Kueue goes by quotas, and may place the job there again"


def _next_pool(planned: PlannedCluster, job: Footing) -> Part:
    """Until Kueue admits the job to another pool, which it does when pods were missing for long."""
    recovery = patience(planned, job)
    if recovery is None:
        return Part("admission", 0, None, "nothing takes the job out of its pool: not known")
    why = (
        f"its pods are missing for {recovery} (`recoveryTimeout`); then Kueue puts it back into its queue, and others "
        "may be admitted before it"
    )
    return Part("admission", recovery.seconds, None, why)
