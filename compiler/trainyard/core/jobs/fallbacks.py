"""Jobs with several pools: what is derived from one pool must hold on each. The kind says who chooses among them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import reduce
from itertools import chain

from trainyard.core.jobs import spec as spec_jobs
from trainyard.core.jobs.job import Kind, Unlike
from trainyard.core.pods.plan import NEURON
from trainyard.core.pools.pools import Pool
from trainyard.core.pools.share import smallest
from trainyard.core.queues.queues import Queue
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.places import Route
from trainyard.plan.context import Context


def agreed(
    context: Context,
    job: spec_jobs.Job,
    kind: Kind,
    pools: tuple[Pool, ...],
    queue: Queue,
    at: Route,
) -> tuple[Pool, ...]:
    """The pools of a job, the first with what jobs can get of a node of any of them; () where they do not agree."""
    if not _of_queue(context, job, pools, queue, at / "pool"):
        return ()
    if kind.pools_in_order and not _in_order(context, job, kind, pools, queue, at / "pool"):
        return ()
    first, *others = pools
    for index, other in enumerate(others, start=1):
        unlike = next(chain(_unlike(job, first, other), kind.unlike(job, first, other)), None)
        if unlike is None:
            continue
        context.fault(
            "RES170",
            f"job `{job.name}` would not be the same on pools `{first.name}` and `{other.name}`: {unlike.field} is "
            f"{unlike.first} and {unlike.other}",
            at / "pool" / index,
            unlike.help or f"leave `{other.name}` out: it is for another job",
            source=kind.chooses_source,
        )
        return ()
    shares = (pool.share for pool in pools)
    share = reduce(smallest, shares)
    context.derive(
        f"job/{job.name}",
        "pools",
        ", ".join(pool.name for pool in pools),
        f"{kind.chooses}; CPU and memory are what a node of each has at least",
        kind.chooses_source,
        follows=at / "pool",
    )
    return (replace(first, share=share), *others)


def _of_queue(
    context: Context, job: spec_jobs.Job, pools: tuple[Pool, ...], queue: Queue, at: Route
) -> bool:
    """Whether the queue has all of the pools."""
    names = [pool.name for pool in pools]
    of_queue = [pool.name for pool, _, _ in queue.quota]
    lacking = [name for name in names if name not in of_queue]
    if not lacking:
        return True
    help = f"add a quota of it to queue `{queue.name}`, or leave it out"
    if queue.implicit:
        help = f"declare a queue under `queues:` with a quota of each of {listed(names)}"
    context.fault(
        "RES171",
        f"queue `{queue.name}` of job `{job.name}` has no nodes of pool `{lacking[0]}`",
        at / names.index(lacking[0]),
        help,
    )
    return False


def _in_order(
    context: Context,
    job: spec_jobs.Job,
    kind: Kind,
    pools: tuple[Pool, ...],
    queue: Queue,
    at: Route,
) -> bool:
    """Whether the queue tries the pools in the same order."""
    names = [pool.name for pool in pools]
    tried = [pool.name for pool, _, _ in queue.quota if pool.name in names]
    if tried == names:
        return True
    context.fault(
        "RES171",
        f"job `{job.name}` names pools in the order {listed(names)}, and its queue `{queue.name}` tries them in the "
        f"order {listed(tried)}",
        at,
        f"write them in the order of the queue's `quota`, or change that: {kind.pools_in_order}",
        source=kind.chooses_source,
    )
    return False


def _unlike(job: spec_jobs.Job, first: Pool, other: Pool) -> Iterator[Unlike]:
    """What is derived of a pool, or checked by it, and differs between two."""
    one, two = first.instance, other.instance
    of_first, of_other = first.share.accelerators, other.share.accelerators
    fields: list[tuple[str, object, object]] = [
        ("the architecture", f"`{one.arch}`", f"`{two.arch}`"),
        ("`accelerators`", _kind(first), _kind(other)),
    ]
    for field, has, differs in fields:
        if has != differs:
            yield Unlike(field, has, differs)
    if job.resources.accelerators is None and of_first != of_other:
        yield Unlike("`accelerators`", of_first, of_other, least("accelerators", of_first, other))
    if job.nodes > 1 and first.efa != other.efa:
        yield Unlike("`efa`", _has_efa(first), _has_efa(other))
    if first.share.resource == NEURON and _neuron_cores(first) != _neuron_cores(other):
        yield Unlike("`processesPerNode`", _neuron_cores(first), _neuron_cores(other))


def least(key: str, of_first: int, other: Pool) -> str:
    """What a job asks for that both pools have of a resource; empty where one has none."""
    amount = min(of_first, getattr(other.share, key))
    if not amount:
        return ""
    return f"write `resources: {{{key}: {amount}}}`, which both have, or leave `{other.name}` out"


def _kind(pool: Pool) -> str:
    if pool.share.resource:
        return f"`{pool.share.resource}`"
    return "none"


def _has_efa(pool: Pool) -> str:
    return "on" if pool.efa else "off"


def _neuron_cores(pool: Pool) -> int:
    """Logical NeuronCores of a node."""
    return pool.instance.neuron_cores // pool.instance.neuron_lnc
