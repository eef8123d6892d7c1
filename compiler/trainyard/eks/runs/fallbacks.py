"""Jobs with several pools: what Kubernetes objects carry must hold on each pool of the queue.

Kueue gives all pods of a PodSet one flavor for the resources of a group: the first, in the order of the ClusterQueue,
that the pods' node affinity admits and that has room (kueue v0.19.2, flavorassigner.findFlavorForPodSets). So a gang of
one PodSet never straddles two pools, and what its pods ask for is the same wherever they land.
"""

from __future__ import annotations

from itertools import chain

from trainyard.core.jobs import spec as spec_jobs
from trainyard.core.pods.plan import BESIDE_NODES
from trainyard.core.pools.pools import Pool
from trainyard.core.queues.queues import Queue
from trainyard.eks.jobs.kind import JobKind
from trainyard.eks.jobs.plan import Runtime
from trainyard.eks.nodes.parts import parts
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.places import Route
from trainyard.plan.context import Context
from trainyard.plan.scheduling import NODEPOOL_LABEL, POOL_LABEL, Requirement, Toleration


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
    managed = [pool.name for pool in pools if pool.launcher.own_label]
    launched = [pool for pool in pools if not pool.launcher.own_label]
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
        source=JobKind.chooses_source,
    )
