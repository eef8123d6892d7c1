"""Why a job with a model has no estimate: what its spec or the catalog lacks, and what to write."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trainyard.catalog import Catalog
from trainyard.core.jobs.plan import Gang, TrainingState
from trainyard.core.jobs.spec import Job, JobsSection
from trainyard.core.pools.spec import PoolsSection
from trainyard.extensions.forecast.sections.models import states_of
from trainyard.extensions.forecast.training.plan import TrainingRun
from trainyard.language.models.cluster import ClusterSpec
from trainyard.plan import Plan


class Unestimated(NamedTuple):
    """A job with a model of which no memory and time are computed; ``help`` is empty where nothing can be written."""

    job: str
    why: str
    help: str = ""


def unestimated(spec: ClusterSpec, plan: Plan, catalog: Catalog) -> Iterator[Unestimated]:
    """Each job with a model and without an estimate."""
    states = {state.name: state for state in states_of(plan)}
    waiting = [node for node in plan.waiting if isinstance(node, Gang)]
    gangs = {gang.source_name: gang for gang in (*plan.of(Gang), *waiting)}
    for job in JobsSection.of(spec).jobs:
        if job.model is None:
            continue
        state = states.get(job.name)
        if state is None:
            yield _without_state(job, gangs.get(job.name), spec, catalog)
        elif not isinstance(state, TrainingRun):
            yield _without_run(job, state)


def _without_run(job: Job, state: TrainingState) -> Unestimated:
    model = job.model
    assert model is not None, "only jobs that have one"
    if not state.accelerators:
        return _no_accelerator(job.name, state.pool, state.instance)
    sized = model.config is not None or model.shape is not None
    keys = "`batch`" if sized else "`batch`, and `shape` or `config`,"
    return Unestimated(
        job.name,
        f"its `model` has no {keys.strip(',')}: weights, gradients and optimizer take "
        f"{state.held / 1024**3:,.1f} of {state.memory / 1024**3:,.1f} GiB, and activations are not counted",
        f"write {keys} in `model`, like `batch: {{sequenceLength: 4096}}`",
    )


def _without_state(job: Job, gang: Gang | None, spec: ClusterSpec, catalog: Catalog) -> Unestimated:
    if job.completed:
        return Unestimated(job.name, "it is completed, and asks for no node")
    pools = {pool.name: pool for pool in PoolsSection.of(spec).node_pools}
    pool = pools.get(gang.pool) if gang is not None else None
    if gang is None or pool is None:
        return _in_error(job.name)
    name = pool.instance_types[0]
    instance = catalog.instance(name)
    if instance is None:
        return _in_error(job.name)
    if not instance.accelerators:
        return _no_accelerator(job.name, pool.name, name)
    if not instance.accelerator_memory_mib:
        return Unestimated(
            job.name, f"the memory of an accelerator of `{name}` is not in the catalog"
        )
    if instance.accelerator_resource not in gang.requests:
        return Unestimated(
            job.name,
            f"it asks for no accelerator of pool `{pool.name}`",
            "remove `resources.accelerators: 0`, or the `model`",
        )
    return _in_error(job.name)


def _in_error(job: str) -> Unestimated:
    return Unestimated(job, "the spec has an error at it", "`trainyard check` shows it")


def _no_accelerator(job: str, pool: str, instance: str) -> Unestimated:
    return Unestimated(
        job,
        f"nodes of pool `{pool}` (`{instance}`) have no accelerator, and the formulas are of accelerators",
        "name a pool with accelerators in `pool`",
    )
