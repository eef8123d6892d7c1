"""What makes a job of several pools another one on each of them where Kueue admits it."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.jobs import spec as spec_jobs
from trainyard.core.jobs.fallbacks import least
from trainyard.core.jobs.job import Unlike
from trainyard.core.pools.pools import Pool
from trainyard.core.pools.topology import topology_name


def unlike(job: spec_jobs.Job, first: Pool, other: Pool) -> Iterator[Unlike]:
    """EFA devices, which pods ask for, and the levels by which Kueue keeps a gang together."""
    of_first, of_other = first.share.efa, other.share.efa
    if job.nodes > 1 and job.resources.efa is None and of_first != of_other:
        yield Unlike("`efa`", of_first, of_other, least("efa", of_first, other))
    if job.topology is None and topology_name(first) != topology_name(other):
        yield Unlike("`topology`", _topology(first), _topology(other), _topology_help(first, other))


def _topology(pool: Pool) -> str:
    name = topology_name(pool)
    return f"`{name}`" if name else "none"


def _topology_help(first: Pool, other: Pool) -> str:
    if first.spec.topology != other.spec.topology:
        return f"give both pools the same `topology`, or leave `{other.name}` out"
    pool = first if first.split and first.static else other
    return (
        f"write `nodes: {{max: {pool.nodes}}}` in pool `{pool.name}`, so that it is in no topology, or leave "
        f"`{other.name}` out"
    )
