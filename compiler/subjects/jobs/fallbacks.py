"""Several pools of one job, in the order of its queue: what is derived of a pool holds on each of them.

Kueue gives all pods of a PodSet one flavor for the resources of a group: the first, in the order of the ClusterQueue,
that the pods' node affinity admits and that has room (kueue v0.19.2, flavorassigner.findFlavorForPodSets). So a gang of
one PodSet never straddles two pools, and what its pods ask for is the same wherever they land.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import reduce
from itertools import chain

from compiler.diagnostics.diagnostic import listed
from compiler.resolve.context import Context
from compiler.source import Route
from compiler.subjects.jobs import spec as spec_jobs
from compiler.subjects.jobs.plan import BESIDE_NODES, NEURON, Runtime
from compiler.subjects.pools.parts import parts
from compiler.subjects.pools.plan import NODEPOOL_LABEL, POOL_LABEL, Requirement, Toleration
from compiler.subjects.pools.pools import Pool
from compiler.subjects.pools.share import smallest
from compiler.subjects.queues.resolve import Queue
from compiler.subjects.queues.topology import topology_name

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
        for pool in (first, other):
            if pool.split and pool.static:
                return (
                    f"write `nodes: {{max: {pool.nodes}}}` in pool `{pool.name}`, so that it is in no topology, or "
                    f"leave `{other.name}` out"
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


def is_mixed(queue: Queue) -> bool:
    """Whether the flavors of a queue say their nodes by different labels: the name of a NodePool, or of a pool of
    reservations.

    Kueue holds the affinity of pods against the labels of one flavor by the keys that this very flavor has (kueue
    v0.19.2, checkFlavorForPodSets): a job pinned by one label would pass for a flavor with the other.
    """
    labelled = {pool.labelled for pool, _, _ in queue.quota}
    return len(labelled) > 1


def pool_terms(pools: tuple[Pool, ...]) -> tuple[tuple[Requirement, ...], ...]:
    """What required node affinity says so that pods land on nodes of one of the pools, and Kueue takes no other flavor,
    whichever of the two labels it has."""
    whole = [pool.name for pool in pools if not pool.labelled]
    managed = [pool.name for pool in pools if pool.managed]
    launched = [pool for pool in pools if not pool.managed]
    split = [pool for pool in launched if pool.split]
    terms: list[tuple[Requirement, ...]] = []
    if split:
        names = tuple(pool.name for pool in split)
        split_parts = chain.from_iterable(parts(pool) for pool in split)
        node_pools = tuple(part.name for part in split_parts)
        terms.append(
            (Requirement(POOL_LABEL, "In", names), Requirement(NODEPOOL_LABEL, "In", node_pools))
        )
    if managed:
        terms.append(
            (
                Requirement(POOL_LABEL, "In", tuple(managed)),
                Requirement(NODEPOOL_LABEL, "DoesNotExist"),
            )
        )
    if whole:
        terms.append(
            (
                Requirement(NODEPOOL_LABEL, "In", tuple(whole)),
                Requirement(POOL_LABEL, "DoesNotExist"),
            )
        )
    return tuple(terms)


def all_tolerations(pools: tuple[Pool, ...]) -> tuple[Toleration, ...]:
    """The tolerations that every one of the pools asks for. Those of the pool that a job lands on come with its flavor
    (kueue v0.19.2, ResourceFlavor tolerations)."""
    first, *others = pools
    common = list(first.tolerations)
    for other in others:
        common = [toleration for toleration in common if toleration in other.tolerations]
    return tuple(common)


def one_pod_set(context: Context, job: spec_jobs.Job, runtime: Runtime, at: Route) -> None:
    """A fault where a job of several pools has nodes in two PodSets: Kueue chooses a flavor for each by itself."""
    jobs = [part for part in runtime.jobs if part.step not in BESIDE_NODES]
    parts = [part.name for part in jobs]
    if len(parts) < 2:
        return
    context.fault(
        "RES171",
        f"the nodes of job `{job.name}` are in {len(parts)} PodSets, "
        f"{listed(parts)}, and Kueue chooses a pool for "
        "each by itself",
        at / "pool",
        "name one pool: with several, one PodSet may land on one pool and the other on another",
        source=_ASSIGNER,
    )
