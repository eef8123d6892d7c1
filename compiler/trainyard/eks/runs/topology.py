"""How close together Kueue keeps the pods of a job."""

from __future__ import annotations

from trainyard.core.jobs.job import Job
from trainyard.core.pools.topology import LEVELS, preferred_level, topology_name


def level_of(job: Job) -> str | None:
    """The level of the topology that a gang is kept in where it fits."""
    if job.has_peers:
        return preferred_level(job.pool)
    return None


def placement_of(job: Job) -> dict[str, str]:
    """The annotation by which Kueue places the pods (kueue v0.19.2, apis/kueue/v1beta2 topology_types.go)."""
    given = job.spec.topology
    if given is not None:
        key = f"kueue.x-k8s.io/podset-{given.chosen}-topology"
        return {key: LEVELS[given.level]}
    level = level_of(job)
    if level is not None:
        return {PREFERRED_TOPOLOGY: level}
    if asks_for_any_host(job):
        return {UNCONSTRAINED_TOPOLOGY: "true"}
    return {}


def asks_for_any_host(job: Job) -> bool:
    """Whether a single node must ask for a topology at all: where some pool of a queue has none, Kueue gives nodes of a
    pool that has one only to pods that ask for it ("Flavor … supports only TopologyAwareScheduling", v0.19.2)."""
    if not any(topology_name(pool) for pool in job.pools):
        return False
    pools = (pool for pool, _, _ in job.queue.quota)
    return any(topology_name(pool) is None for pool in pools)


PREFERRED_TOPOLOGY = "kueue.x-k8s.io/podset-preferred-topology"


UNCONSTRAINED_TOPOLOGY = "kueue.x-k8s.io/podset-unconstrained-topology"
