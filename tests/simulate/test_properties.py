"""What holds whatever the queues and jobs are."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from trainyard.extensions.forecast.simulate.objects import Cell, Job, Queue
from trainyard.extensions.forecast.simulate.reasons import fits_alone
from trainyard.extensions.forecast.simulate.state import World

from simulate.worlds import GPU, admitted, job, made, queue, settled

CELL = Cell("main", GPU)
pytestmark = pytest.mark.slow

policies = st.sampled_from(("Never", "LowerPriority", "Any"))
within = st.sampled_from(("Never", "LowerPriority", "LowerOrNewerEqualPriority"))
strategies = st.sampled_from(("StrictFIFO", "BestEffortFIFO"))
limits = st.none() | st.integers(0, 3)


@st.composite
def worlds(draw: st.DrawFn) -> World:
    queues = []
    for name in draw(st.sampled_from((("a",), ("a", "b"), ("a", "b", "c")))):
        spec = {
            "cohortName": "all",
            "queueingStrategy": draw(strategies),
            "preemption": {
                "withinClusterQueue": draw(within),
                "reclaimWithinCohort": draw(policies),
            },
        }
        for key in ("borrowingLimit", "lendingLimit"):
            nodes = draw(limits)
            if nodes is not None:
                spec[key] = 8 * nodes
        queues.append(queue(name, 8 * draw(st.integers(0, 4)), **spec))
    racks = draw(st.none() | st.lists(st.integers(0, 3), min_size=1, max_size=3))
    return made(*queues, racks=racks, fair=draw(st.booleans()))


@st.composite
def jobs_of(draw: st.DrawFn, world: World) -> list[Job]:
    topology = world.flavors["main"].topology is not None
    modes = ("required", "preferred", "unconstrained") if topology else (None,)
    names = [each.name for each in world.queues]
    return [
        job(
            f"j{index}",
            draw(st.sampled_from(names)),
            draw(st.integers(1, 4)),
            gpus=draw(st.sampled_from((4, 8))),
            mode=draw(st.sampled_from(modes)),
            priority=draw(st.integers(0, 2)),
            created=index,
        )
        for index in range(draw(st.integers(0, 6)))
    ]


@given(st.data())
def test_no_more_is_used_than_there_is(data: st.DataObject) -> None:
    world = data.draw(worlds())
    simulator = settled(world, *data.draw(jobs_of(world)))
    state = simulator.state
    for name, account in state.accounts.items():
        asked = sum(work.usage().get(CELL, 0) for work in state.works[name].values())
        assert account.used.get(CELL, 0) == asked <= account.most(CELL)
        borrowing = account.limits(CELL).borrowing
        if borrowing is not None:
            assert asked <= account.limits(CELL).nominal + borrowing
    total = sum(account.used.get(CELL, 0) for account in state.accounts.values())
    assert total <= sum(account.limits(CELL).nominal for account in state.accounts.values())
    for forest in state.forests.values():
        for id, used in forest.usage.by_domain.items():
            for resource, amount in used.items():
                assert 0 <= amount <= forest.leaves[id].allocatable[resource]


@given(st.data())
def test_the_order_of_what_is_submitted_at_once_does_not_matter(data: st.DataObject) -> None:
    """Jobs have seconds of their own here; those of one second are ordered by what comes first."""
    world = data.draw(worlds())
    jobs = data.draw(jobs_of(world))
    shuffled = list(jobs)
    random.Random(data.draw(st.integers())).shuffle(shuffled)
    one, other = settled(world, *jobs), settled(world, *shuffled)
    assert {key: _became(work) for key, work in one.works.items()} == {
        key: _became(work) for key, work in other.works.items()
    }


@given(st.data())
def test_queues_without_a_cohort_do_not_depend_on_each_other(data: st.DataObject) -> None:
    """Jobs of one second in queues that share nothing: who of them came first decides nothing."""
    names = "abc"
    world = made(*(queue(name, 8 * data.draw(st.integers(0, 4))) for name in names))
    jobs = [
        job(f"{name}{index}", name, data.draw(st.integers(1, 3)), created=index)
        for name in names
        for index in range(data.draw(st.integers(0, 4)))
    ]
    shuffled = list(jobs)
    random.Random(data.draw(st.integers())).shuffle(shuffled)
    one, other = settled(world, *jobs), settled(world, *shuffled)
    assert {key: _became(work) for key, work in one.works.items()} == {
        key: _became(work) for key, work in other.works.items()
    }


def _became(work: object) -> object:
    admission = work.admission
    return admission and (admission.usage, list(admission.places()))


def _raised(queue: Queue) -> Queue:
    quotas = {
        cell: limits._replace(nominal=limits.nominal + 8) for cell, limits in queue.quotas.items()
    }
    return replace(queue, quotas=quotas)


@given(st.data())
def test_more_quota_or_nodes_exclude_no_job(data: st.DataObject) -> None:
    world = data.draw(worlds())
    more = replace(world, queues=tuple(map(_raised, world.queues)))
    if world.nodes:
        first = world.nodes[0]
        labels = {**first.labels, "kubernetes.io/hostname": "one-more"}
        more = replace(more, nodes=(*more.nodes, replace(first, name="one-more", labels=labels)))
    for each in data.draw(jobs_of(world)):
        if fits_alone(world, each):
            assert fits_alone(more, each)


@given(st.data())
def test_more_quota_excludes_nobody_where_all_wait_in_turn(data: st.DataObject) -> None:
    """Without preemption, and in strict queues without a cohort. In others a job that passes a larger one by waits once
    there is quota for that one."""
    names = "ab"
    quotas = {name: data.draw(st.integers(0, 6)) for name in names}
    more = {name: quotas[name] + data.draw(st.integers(0, 3)) for name in names}
    jobs = [
        job(f"j{index}", data.draw(st.sampled_from(names)), data.draw(st.integers(1, 4)), created=index)
        for index in range(data.draw(st.integers(0, 8)))
    ]  # fmt: skip
    few, many = (
        settled(
            made(*(queue(name, 8 * each[name], queueingStrategy="StrictFIFO") for name in names)),
            *jobs,
        )
        for each in (quotas, more)
    )
    assert admitted(few).keys() <= admitted(many).keys()


@given(st.data())
def test_where_all_fit_all_fit_with_more_quota(data: st.DataObject) -> None:
    """Whatever the cohorts are, and in which order jobs come."""
    world = data.draw(worlds())
    world = replace(world, flavors={"main": replace(world.flavors["main"], topology=None)})
    jobs = data.draw(jobs_of(world))
    assume(len(admitted(settled(world, *jobs))) == len(jobs))
    raised = data.draw(st.sampled_from(world.queues)).name
    queues = tuple(_raised(each) if each.name == raised else each for each in world.queues)
    assert len(admitted(settled(replace(world, queues=queues), *jobs))) == len(jobs)


@given(st.data())
def test_what_is_taken_back_leaves_nothing(data: st.DataObject) -> None:
    world = data.draw(worlds())
    jobs = data.draw(jobs_of(world))
    simulator = settled(world, *jobs)
    simulator.end([each.key for each in jobs])
    assert not any(
        amount for account in simulator.state.accounts.values() for amount in account.used.values()
    )
    assert not any(
        amount
        for forest in simulator.state.forests.values()
        for used in forest.usage.by_domain.values()
        for amount in used.values()
    )
