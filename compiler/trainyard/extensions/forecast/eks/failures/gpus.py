"""A GPU of a job's node has an Xid: the program is to blame, or the GPU, or the node."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.health.plan import ConditionTainter
from trainyard.extensions.forecast.eks.failures.repairing import Repairing
from trainyard.extensions.forecast.eks.failures.restarting import admission, again, then
from trainyard.extensions.forecast.failures.footing import Footing, times
from trainyard.extensions.forecast.failures.outcome import Failure, Outcome, restarted
from trainyard.extensions.forecast.failures.parts import Part, gone, hangs, pulled, started
from trainyard.extensions.forecast.failures.xids import GPU, classes, named, source
from trainyard.extensions.forecast.planned import PlannedCluster
from trainyard.language.units import Duration

_HUNG = "processes that hang"


def xids(planned: PlannedCluster, job: Footing, repair: Repairing) -> Iterator[Outcome]:
    """The outcome of each class of Xids; nothing of jobs without GPUs of NVIDIA."""
    if job.accelerator != GPU:
        return
    for failure, codes in classes(planned.catalog).items():
        if failure is Failure.PROGRAM:
            yield _of_the_program(planned, job, codes)
        else:
            yield _of_the_node(planned, job, repair, failure, codes)


def _of_the_program(planned: PlannedCluster, job: Footing, codes: tuple[int, ...]) -> Outcome:
    """No node goes: the program starts again where it was."""
    notice, notices = hangs()
    least, end = job.ends
    acts = again(job)
    why = f"{_HUNG}: {Duration(end)}"
    if job.in_place:
        least = 0
        acts = f"torchrun starts the ranks again, {times(job.in_place)}; then {acts}"
        why += "; torchrun waits for ranks alone where it starts them again in their pods"
    parts = (notice, Part("processes end", least, end, why), started())
    of = named(codes)
    return restarted(
        Outcome(
            failure=Failure.PROGRAM,
            job=job,
            notices=notices,
            acts=acts,
            parts=parts,
            of=of,
            source=source(planned.catalog, Failure.PROGRAM),
        ),
        in_place=True,
    )


def _of_the_node(
    planned: PlannedCluster,
    job: Footing,
    repair: Repairing,
    failure: Failure,
    codes: tuple[int, ...],
) -> Outcome:
    notice, notices = hangs()
    if repair.watcher:
        notices += f"; {repair.watcher}"
    after = repair.after(codes)
    why = f"{_HUNG}: {Duration(job.ends[1])}; meanwhile {repair.replaces(after)}"
    ended = gone(job.ends, after or 0, notice, why)
    rest = (ended, *repair.nodes(job, replaced=after is not None), pulled())
    parts = (notice, *rest, admission(planned, job, rest), started())
    acts = f"{repair.replaces(after)}; {then(job, repair)}"
    if planned.plan.one(ConditionTainter) is not None:
        acts = f"a taint keeps new pods off the node within seconds; {acts}"
    facts = f"{source(planned.catalog, failure)}; {repair.source}"
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
