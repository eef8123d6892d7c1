"""The simulation, which keeps counts and stops early, decides what the naive one does."""

from __future__ import annotations

from typing import Any

import pytest
from drawn import examples_of
from hypothesis import given, settings
from hypothesis import strategies as st
from timeline.worlds import HOUR, run
from trainyard.core.jobs.length import Basis, Length
from trainyard.extensions.forecast.simulate.objects import Job, Placement, PodSet
from trainyard.extensions.forecast.simulate.reasons import blockers
from trainyard.extensions.forecast.simulate.simulator import Simulator
from trainyard.extensions.forecast.simulate.state import World
from trainyard.extensions.forecast.timeline.readiness import PodsReady

from simulate.naive import naively, waited_for
from simulate.worlds import GPU, LEVEL, made, queue

pytestmark = pytest.mark.slow

_HOST = "kubernetes.io/hostname"


# Made once: to make a strategy takes longer than to draw from it.
_YES_OR_NO = st.booleans()
_UP_TO_TWO = st.integers(0, 2)
_UP_TO_FOUR = st.integers(0, 4)
_LIMIT = st.none() | st.none() | st.integers(0, 3)
_RACKS = st.none() | st.lists(st.integers(0, 3), min_size=1, max_size=3)
_QUEUES = st.integers(1, 5)
_COHORT = st.sampled_from(("", "all", "left", "right", "left"))
_STRATEGY = st.sampled_from(("StrictFIFO", "BestEffortFIFO"))
_BORROWS = st.sampled_from(("Borrow", "TryNextFlavor"))
_PREEMPTS = st.sampled_from(("Preempt", "TryNextFlavor"))
_FAIR = st.sampled_from((False, False, True))
_WITHIN = st.sampled_from(("Never", "LowerPriority", "LowerOrNewerEqualPriority"))
_RECLAIM = st.sampled_from(("Never", "LowerPriority", "Any", "Any"))
_JOBS = st.integers(1, 9)
_SETS = st.sampled_from((1, 1, 2))
_IS_PLACED = st.sampled_from((True, True, False))
_MODE = st.sampled_from(("required", "preferred", "unconstrained"))
_TOPOLOGY_LEVEL = st.sampled_from((LEVEL, _HOST))
_PODS = st.integers(1, 4)
_LEAST = {count: st.none() | st.integers(1, count) for count in range(1, 5)}
_GPUS = st.sampled_from((8, 8, 4, 1))
_LENGTH = st.integers(1, 4).map(lambda hours: Length(Basis.EXPECTED, hours * HOUR))
_CLOSES = st.none() | st.integers(1, 6)
_READY = st.none() | st.just(PodsReady(1800, 1))


@st.composite
def preemptions(draw: st.DrawFn) -> dict[str, Any]:
    reclaim = draw(_RECLAIM)
    found: dict[str, Any] = {"withinClusterQueue": draw(_WITHIN), "reclaimWithinCohort": reclaim}
    if reclaim != "Never" and draw(_YES_OR_NO):
        found["borrowWithinCohort"] = {"policy": "LowerPriority", "maxPriorityThreshold": 1}
    return found


_PREEMPTION = preemptions()


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """Up to five queues in a tree of up to three cohorts, or in none; one flavor or two; racks, or no topology."""
    racks = draw(_RACKS)
    two = draw(_YES_OR_NO)
    queues = []
    for name in "abcde"[: draw(_QUEUES)]:
        spec: dict[str, Any] = {
            "queueingStrategy": draw(_STRATEGY),
            "preemption": draw(_PREEMPTION),
            "flavorFungibility": {
                "whenCanBorrow": draw(_BORROWS),
                "whenCanPreempt": draw(_PREEMPTS),
            },
        }
        cohort = draw(_COHORT)
        if cohort:
            spec["cohortName"] = cohort
        for key in ("borrowingLimit", "lendingLimit"):
            limit = draw(_LIMIT)
            if limit is not None and cohort:
                spec[key] = 8 * limit
        bodies = queue(name, 8 * draw(_UP_TO_FOUR), **spec)
        if two:
            flavors = bodies[0]["spec"]["resourceGroups"][0]["flavors"]
            resource = {"name": GPU, "nominalQuota": 8 * draw(_UP_TO_TWO)}
            flavors.append({"name": "other", "resources": [resource]})
        queues.append(bodies)
    more: list[dict[str, Any]] = [
        {"kind": "Cohort", "metadata": {"name": name}, "spec": {"parentName": "all"}}
        for name in ("left", "right")
    ]
    of_other = {"topologyName": "net"} if racks is not None else {}
    more.append({"kind": "ResourceFlavor", "metadata": {"name": "other"}, "spec": of_other})
    return made(*queues, racks=racks, more=more, fair=draw(_FAIR))


_WORLDS = worlds()


@st.composite
def jobs_of(draw: st.DrawFn, world: World) -> list[Job]:
    """Jobs of one or two sets of pods, some of which take fewer pods than they ask for."""
    topology = world.flavors["main"].topology is not None
    names = [each.name for each in world.queues]
    jobs = []
    for index in range(draw(_JOBS)):
        sets = []
        for number in range(draw(_SETS)):
            placement = None
            if topology and draw(_IS_PLACED):
                mode = draw(_MODE)
                level = draw(_TOPOLOGY_LEVEL)
                placement = Placement(mode, None if mode == "unconstrained" else level)
            count = draw(_PODS)
            least = draw(_LEAST[count]) if number == 0 else None
            requests = {GPU: draw(_GPUS)}
            sets.append(PodSet(f"s{number}", count, requests, least, placement=placement))
        name = draw(st.sampled_from(names))
        created = draw(_UP_TO_TWO)
        jobs.append(Job("team", f"j{index}", name, tuple(sets), draw(_UP_TO_TWO), created))
    return jobs


def decided(simulator: Simulator) -> dict[str, Any]:
    """All that a simulation says of its jobs; of jobs that preempt each other without an end how often is left out."""
    found: dict[str, Any] = {"settled": simulator.settled}
    for key, work in simulator.works.items():
        admission = work.admission
        has = None
        if admission is not None:
            has = admission.usage, list(admission.places()), [each.count for each in admission.sets]
        found[key] = work.queue, has, work.obstacles
        if simulator.settled:
            found[key] += (work.reserved, work.evictions, work.preempted_by)
    return found


def _course(world: World, jobs: list[Job], gone: list[str]) -> list[dict[str, Any]]:
    """What is decided of all jobs at once, and once some have ended."""
    simulator = Simulator(world)
    for each in jobs:
        simulator.submit(each)
    simulator.settle()
    found = [decided(simulator)]
    if simulator.settled:
        simulator.end(gone)
        simulator.settle()
        found.append(decided(simulator))
    return found


@settings(max_examples=examples_of(300))
@given(st.data())
def test_what_is_kept_decides_as_what_is_counted_anew(data: st.DataObject) -> None:
    world = data.draw(_WORLDS)
    jobs = data.draw(jobs_of(world))
    gone = [each.key for each in jobs if data.draw(_YES_OR_NO)]
    fast = _course(world, jobs, gone)
    with naively():
        assert _course(world, jobs, gone) == fast


@given(st.data())
def test_jobs_wait_for_the_same_ones(data: st.DataObject) -> None:
    """Sets of pods are placed one after the other, so that more room may help one and harm another: not of two sets."""
    world = data.draw(_WORLDS)
    jobs = [each for each in data.draw(jobs_of(world)) if len(each.pod_sets) == 1]
    simulator = Simulator(world)
    for each in jobs:
        simulator.submit(each)
    simulator.settle()
    if len(world.queues[0].groups[0].flavors) > 1:
        return
    for work in simulator.works.values():
        if work.admission is None and work.queue:
            assert blockers(simulator.state, work) == waited_for(simulator.state, work)


@given(st.data())
def test_a_timeline_is_the_same(data: st.DataObject) -> None:
    world = data.draw(_WORLDS)
    jobs = [(each, data.draw(_LENGTH)) for each in data.draw(jobs_of(world))]
    closes = data.draw(_CLOSES)
    ready = data.draw(_READY)
    fast = run(world, *jobs, closes=closes, ready=ready)
    with naively():
        assert run(world, *jobs, closes=closes, ready=ready) == fast
