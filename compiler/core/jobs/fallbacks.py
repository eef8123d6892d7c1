"""Jobs with several pools, in the order of their queue: what is derived from one pool must hold on each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import reduce

from compiler.context import Context
from compiler.core.jobs import spec as spec_jobs
from compiler.core.pods.plan import NEURON
from compiler.core.pools.pools import Pool
from compiler.core.pools.share import smallest
from compiler.core.pools.topology import topology_name
from compiler.core.queues.queues import Queue
from compiler.diagnostics.diagnostic import listed
from compiler.places import Route

_ASSIGNER = "kueue v0.19.2, pkg/scheduler/flavorassigner"


def agreed(
    context: Context, job: spec_jobs.Job, pools: tuple[Pool, ...], queue: Queue, at: Route
) -> tuple[Pool, ...]:
    """The pools of a job, the first with what jobs can get of a node of any of them; () where they do not agree."""
    place = at / "pool"
    if not _in_order(context, job, pools, queue, place):
        return ()
    first, *others = pools
    for index, other in enumerate(others, start=1):
        apart = next(_unlike(job, first, other), None)
        if apart is None:
            continue
        field, of_first, of_other = apart
        context.fault(
            "RES170",
            f"job `{job.name}` would not be the same "
            f"on pools `{first.name}` and `{other.name}`: "
            f"{field} is {of_first} and {of_other}",
            at / "pool" / index,
            _help(field, first, other),
            source=_ASSIGNER,
        )
        return ()
    shares = (pool.share for pool in pools)
    share = reduce(smallest, shares)
    context.derive(
        f"job/{job.name}",
        "pools",
        ", ".join(pool.name for pool in pools),
        "all nodes come from the first in which the queue has enough free; CPU and memory are what a node of each has "
        "at least",
        _ASSIGNER,
        follows=at / "pool",
    )
    return (replace(first, share=share), *others)


def _in_order(
    context: Context, job: spec_jobs.Job, pools: tuple[Pool, ...], queue: Queue, at: Route
) -> bool:
    """Whether the queue has all of the pools, and tries them in the same order."""
    names = [pool.name for pool in pools]
    of_queue = [pool for pool, _, _ in queue.quota]
    tried = [pool.name for pool in of_queue]
    lacking = [name for name in names if name not in tried]
    if lacking:
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
    wanted = [name for name in tried if name in names]
    if wanted == names:
        return True
    context.fault(
        "RES171",
        f"job `{job.name}` names pools in the order {listed(names)}, "
        f"and its queue `{queue.name}` tries them in the order {listed(wanted)}",
        at,
        "write them in the order of the queue's `quota`, or change that: Kueue has no order for single jobs",
        source=_ASSIGNER,
    )
    return False


def _unlike(job: spec_jobs.Job, first: Pool, other: Pool) -> Iterator[tuple[str, object, object]]:
    """What is derived of a pool, or checked by it, and differs between two: the field, and what each has."""
    one, two = first.instance, other.instance
    own = job.resources
    gang = job.nodes > 1
    fields: list[tuple[str, object, object]] = [
        ("the architecture", f"`{one.arch}`", f"`{two.arch}`"),
        ("`accelerators`", _kind(first), _kind(other)),
    ]
    if own.accelerators is None:
        fields.append(("`accelerators`", first.share.accelerators, other.share.accelerators))
    if gang and own.efa is None:
        devices = ("`efa`", first.share.efa, other.share.efa)
        fields.append(devices)
    if gang:
        has_efa = ("`efa`", _has_efa(first), _has_efa(other))
        fields.append(has_efa)
    if job.topology is None:
        topologies = ("`topology`", _topology(first), _topology(other))
        fields.append(topologies)
    if first.share.resource == NEURON:
        fields.append(("`processesPerNode`", _neuron_cores(first), _neuron_cores(other)))
    for field, of_first, of_other in fields:
        if of_first != of_other:
            yield field, of_first, of_other


def _help(field: str, first: Pool, other: Pool) -> str:
    """What makes a job the same on both pools, where anything does."""
    if field == "`topology`":
        if first.spec.topology != other.spec.topology:
            return f"give both pools the same `topology`, or leave `{other.name}` out"
        pool = first if first.split and first.static else other
        return (
            f"write `nodes: {{max: {pool.nodes}}}` in pool `{pool.name}`, so that it is in no topology, or leave "
            f"`{other.name}` out"
        )
    amounts = {
        "`accelerators`": (first.share.accelerators, other.share.accelerators),
        "`efa`": (first.share.efa, other.share.efa),
    }
    least = min(amounts.get(field, (0, 0)))
    if least:
        key = field.strip("`")
        return (
            f"write `resources: {{{key}: {least}}}`, which both have, or leave `{other.name}` out"
        )
    return f"leave `{other.name}` out: it is for another job"


def _kind(pool: Pool) -> str:
    if pool.share.resource:
        return f"`{pool.share.resource}`"
    return "none"


def _has_efa(pool: Pool) -> str:
    return "on" if pool.efa else "off"


def _topology(pool: Pool) -> str:
    name = topology_name(pool)
    return f"`{name}`" if name else "none"


def _neuron_cores(pool: Pool) -> int:
    """Logical NeuronCores of a node."""
    return pool.instance.neuron_cores // pool.instance.neuron_lnc
