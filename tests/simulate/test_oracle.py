"""The simulation, which keeps counts and stops early, decides what the naive one does."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from timeline.worlds import HOUR, run

from compiler.model.lengths import Basis, Length
from compiler.simulate.blockers import blockers
from compiler.simulate.objects import Job, Placement, PodSet
from compiler.simulate.simulator import Simulator
from compiler.simulate.state import World
from compiler.timeline.readiness import PodsReady
from simulate.naive import naively, waited_for
from simulate.worlds import GPU, LEVEL, made, queue

pytestmark = pytest.mark.slow

_HOST = "kubernetes.io/hostname"


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """Up to five queues in a tree of up to three cohorts, or in none; one flavor or two; racks, or no topology."""
    racks = draw(st.none() | st.lists(st.integers(0, 3), min_size=1, max_size=3))
    two = draw(st.booleans())
    queues = []
    for name in "abcde"[: draw(st.integers(1, 5))]:
        spec: dict[str, Any] = {
            "queueingStrategy": draw(st.sampled_from(("StrictFIFO", "BestEffortFIFO"))),
            "preemption": draw(preemptions()),
            "flavorFungibility": {
                "whenCanBorrow": draw(st.sampled_from(("Borrow", "TryNextFlavor"))),
                "whenCanPreempt": draw(st.sampled_from(("Preempt", "TryNextFlavor"))),
            },
        }
        cohort = draw(st.sampled_from(("", "all", "left", "right", "left")))
        if cohort:
            spec["cohortName"] = cohort
        for key in ("borrowingLimit", "lendingLimit"):
            limit = draw(st.none() | st.none() | st.integers(0, 3))
            if limit is not None and cohort:
                spec[key] = 8 * limit
        bodies = queue(name, 8 * draw(st.integers(0, 4)), **spec)
        if two:
            flavors = bodies[0]["spec"]["resourceGroups"][0]["flavors"]
            resource = {"name": GPU, "nominalQuota": 8 * draw(st.integers(0, 2))}
            flavors.append({"name": "other", "resources": [resource]})
        queues.append(bodies)
    more: list[dict[str, Any]] = [
        {"kind": "Cohort", "metadata": {"name": name}, "spec": {"parentName": "all"}}
        for name in ("left", "right")
    ]
    of_other = {"topologyName": "net"} if racks is not None else {}
    more.append({"kind": "ResourceFlavor", "metadata": {"name": "other"}, "spec": of_other})
    return made(*queues, racks=racks, more=more, fair=draw(st.sampled_from((False, False, True))))


@st.composite
def preemptions(draw: st.DrawFn) -> dict[str, Any]:
    reclaim = draw(st.sampled_from(("Never", "LowerPriority", "Any", "Any")))
    policies = ("Never", "LowerPriority", "LowerOrNewerEqualPriority")
    found: dict[str, Any] = {
        "withinClusterQueue": draw(st.sampled_from(policies)),
        "reclaimWithinCohort": reclaim,
    }
    if reclaim != "Never" and draw(st.booleans()):
        found["borrowWithinCohort"] = {"policy": "LowerPriority", "maxPriorityThreshold": 1}
    return found


@st.composite
def jobs_of(draw: st.DrawFn, world: World) -> list[Job]:
    """Jobs of one or two sets of pods, some of which take fewer pods than they ask for."""
    topology = world.flavors["main"].topology is not None
    names = [each.name for each in world.queues]
    jobs = []
    for index in range(draw(st.integers(1, 9))):
        sets = []
        for number in range(draw(st.sampled_from((1, 1, 2)))):
            placement = None
            if topology and draw(st.sampled_from((True, True, False))):
                mode = draw(st.sampled_from(("required", "preferred", "unconstrained")))
                level = draw(st.sampled_from((LEVEL, _HOST)))
                placement = Placement(mode, None if mode == "unconstrained" else level)
            count = draw(st.integers(1, 4))
            least = draw(st.none() | st.integers(1, count)) if number == 0 else None
            requests = {GPU: draw(st.sampled_from((8, 8, 4, 1)))}
            sets.append(PodSet(f"s{number}", count, requests, least, placement=placement))
        name = draw(st.sampled_from(names))
        created = draw(st.integers(0, 2))
        jobs.append(Job("team", f"j{index}", name, tuple(sets), draw(st.integers(0, 2)), created))
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


@settings(max_examples=300)
@given(st.data())
def test_what_is_kept_decides_as_what_is_counted_anew(data: st.DataObject) -> None:
    world = data.draw(worlds())
    jobs = data.draw(jobs_of(world))
    gone = [each.key for each in jobs if data.draw(st.booleans())]
    fast = _course(world, jobs, gone)
    with naively():
        assert _course(world, jobs, gone) == fast


@given(st.data())
def test_jobs_wait_for_the_same_ones(data: st.DataObject) -> None:
    """Sets of pods are placed one after the other, so that more room may help one and harm another: not of two sets."""
    world = data.draw(worlds())
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
    world = data.draw(worlds())
    lengths = st.integers(1, 4).map(lambda hours: Length(Basis.EXPECTED, hours * HOUR))
    jobs = [(each, data.draw(lengths)) for each in data.draw(jobs_of(world))]
    closes = data.draw(st.none() | st.integers(1, 6))
    ready = data.draw(st.none() | st.just(PodsReady(1800, 1)))
    fast = run(world, *jobs, closes=closes, ready=ready)
    with naively():
        assert run(world, *jobs, closes=closes, ready=ready) == fast
