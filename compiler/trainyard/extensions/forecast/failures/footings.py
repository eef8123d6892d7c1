"""What each job of a reading has to go on from after a failure."""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.catalog.torch import SHUTDOWN_SECONDS, SHUTDOWN_TIMEOUT
from trainyard.core.jobs.length import Length
from trainyard.core.jobs.plan import CheckpointSchedule
from trainyard.core.jobs.stopping import AFTER_THE_SIGNAL, longest_hook, longest_silence
from trainyard.extensions.forecast.failures.footing import Footing
from trainyard.extensions.forecast.planned import PlannedCluster
from trainyard.judge.model.kinds import has_peers
from trainyard.judge.model.lengths import lengths
from trainyard.judge.model.reading import Reading
from trainyard.judge.model.restarts import restarts_of
from trainyard.judge.model.saves import has_place_to_save
from trainyard.judge.model.work import Work
from trainyard.language.units import count
from trainyard.plan import Plan

_IN_PLACE = "PET_MAX_RESTARTS"


def footings(reading: Reading, planned: PlannedCluster) -> list[Footing]:
    """Every job of a cluster, in the order of its plan."""
    known = reading.once(lengths)
    return [_footing(planned, work, known[work.namespace, work.name]) for work in reading.works]


def schedules_of(plan: Plan) -> Mapping[tuple[str, str], CheckpointSchedule]:
    """The checkpoints of jobs, by their namespace and name in the spec."""
    found = plan.of(CheckpointSchedule)
    return {(schedule.namespace, schedule.name): schedule for schedule in found}


def name_of(work: Work) -> str:
    """The name of a job in the spec."""
    return work.job.source_name or work.job.name


def _footing(planned: PlannedCluster, work: Work, length: Length) -> Footing:
    name = name_of(work)
    nodes = work.job.whole_nodes
    pool = planned.pool(work.job.pool)
    return Footing(
        gang=work.job,
        kind=work.kind,
        has_peers=has_peers(work.kind),
        pod=work.pod,
        accelerator="" if work.accelerator is None else work.accelerator[0],
        gpus_a_node=work.gpus_a_node,
        name=name,
        nodes=nodes,
        retries=restarts_of(work),
        in_place=count(work.env.get(_IN_PLACE)) or 0,
        hung=hung_seconds(work),
        spare=pool.spare_nodes if pool is not None else 0,
        schedule=length.schedule,
        saves=has_place_to_save(work),
        length=length,
    )


def hung_seconds(work: Work) -> tuple[int, int]:
    """The seconds until processes are gone that hang, as they do in a collective that others have left: no hook waits
    for them, torchrun does, and then the kubelet kills. Without pods torchrun alone ends them."""
    pod = work.pod
    if pod is None:
        waits = count(work.env.get(SHUTDOWN_TIMEOUT))
        longest = SHUTDOWN_SECONDS if waits is None else waits
        return min(SHUTDOWN_SECONDS, longest), longest
    seconds = whole = pod.stops_within
    if any(container.pre_stop for container in pod.containers):
        hook = longest_hook(whole)
        seconds = min(longest_silence(hook) + AFTER_THE_SIGNAL, whole)
    return seconds, seconds
