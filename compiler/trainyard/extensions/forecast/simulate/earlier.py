"""Runs that go on although the spec no longer asks for them: they hold quota and nodes until they end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil

from trainyard.core.pods.plan import Resources
from trainyard.eks.jobs.plan import POD_PRIORITY, StandingRun
from trainyard.eks.kueue.plan import Flavor
from trainyard.extensions.forecast.simulate.objects import Amounts, Job, Placement, PodSet
from trainyard.judge.model.reading import Reading

_ANY_TAINT = ({"operator": "Exists"},)


def earlier_runs(
    reading: Reading, priorities: Mapping[tuple[str, str], int], prefixes: Sequence[str]
) -> Iterator[Job]:
    """Each such run as a job: with the pods that were noted, on the flavors of the pools that it may be on."""
    for run in reading.plan.of(StandingRun):
        if run.left and run.queue and run.pods:
            yield _job(run, reading, priorities, prefixes)


def _job(
    run: StandingRun,
    reading: Reading,
    priorities: Mapping[tuple[str, str], int],
    prefixes: Sequence[str],
) -> Job:
    flavors = [flavor for flavor in reading.plan.of(Flavor) if _is_of(flavor, run, reading)]
    terms = tuple(
        tuple(
            {"key": key, "operator": "In", "values": [value]}
            for key, value in flavor.node_labels.items()
        )
        for flavor in flavors
    )
    placement = None
    if flavors and all(flavor.topology for flavor in flavors):
        placement = Placement("unconstrained")
    sets = tuple(
        PodSet(
            f"pods-{index}",
            pods.number,
            amounts(pods.asks, prefixes),
            tolerations=_ANY_TAINT,
            terms=terms,
            placement=placement,
        )
        for index, pods in enumerate(run.pods)
    )
    of_pods = priorities.get(("PriorityClass", POD_PRIORITY), 0)
    priority = priorities.get(("WorkloadPriorityClass", run.priority), of_pods)
    return Job(run.namespace, run.name, run.queue, sets, priority)


def _is_of(flavor: Flavor, run: StandingRun, reading: Reading) -> bool:
    """Whether nodes of a flavor are those of a run's pools."""
    return any(pool.title in run.pools for pool in reading.pools_of(flavor))


def amounts(asks: Resources, prefixes: Sequence[str]) -> Amounts:
    """What pods ask for in the units of Kueue, without the resources that it does not count."""
    return {
        resource: ceil(quantity.milli if resource == "cpu" else quantity.milli / 1000)
        for resource, quantity in asks.items()
        if not resource.startswith(tuple(prefixes))
    }
