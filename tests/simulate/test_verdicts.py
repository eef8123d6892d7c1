"""What is said of the jobs of a spec: that it is true, and that nothing of it can be left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from itertools import permutations
from typing import Any

import pytest
from builders import ROOT
from trainyard.catalog import load_catalog
from trainyard.extensions.forecast.simulate.compiled import Cluster, cluster
from trainyard.extensions.forecast.simulate.forecasts import Arrival, forecast
from trainyard.extensions.forecast.simulate.objects import Job
from trainyard.extensions.forecast.simulate.quota import Share
from trainyard.extensions.forecast.simulate.state import World
from trainyard.extensions.forecast.simulate.verdict import Forecast, Kind, Verdict
from trainyard.judge.model.reading import Reading
from trainyard.run.driver import check
from trainyard.run.outcome import Options

from simulate.worlds import LEVEL, job, made, queue


@cache
def reading(spec: str) -> Reading:
    (done,) = check([ROOT / "specs" / spec], Options(), current=lambda _: None).compilations
    assert done.plan is not None
    return Reading(done.plan, load_catalog(), done.manifests)


def of_spec(spec: str, nodes: Mapping[str, int] | None = None) -> Forecast:
    return forecast(cluster("lab", reading(spec), nodes))


def of(world: World, *jobs: Job) -> dict[str, Verdict]:
    titles = {each.key: each.name for each in jobs}
    found = forecast(Cluster("lab", world, jobs, titles, (), (), (), frozenset()))
    return {each.job: each for each in found.verdicts}


@pytest.mark.slow
def test_the_seven_models_fit_at_once_on_80_nodes() -> None:
    found = of_spec("jakarta")
    assert [each.kind for each in found.verdicts] == [Kind.FITS] * 7
    assert sum(where.nodes for each in found.verdicts for where in each.where) == 74
    domains = {where.domain for each in found.verdicts for where in each.where}
    assert domains == {"cr-0a1b2c3d4e5f60713", "cr-0a1b2c3d4e5f60714"}


@pytest.mark.slow
def test_with_a_node_less_than_they_need_it_says_which_waits() -> None:
    assert of_spec("jakarta", {"h200": 74}).waiting == ()
    found = of_spec("jakarta", {"h200": 73})
    assert found.waiting == ("timor",)
    (timor,) = [each for each in found.verdicts if each.job == "timor"]
    assert timor.kind is Kind.ONLY_IF
    assert timor.edits[0] == "1 more node in pool `h200`"


@pytest.mark.slow
def test_two_teams_fit_where_there_are_nodes_for_their_quota() -> None:
    assert {each.kind for each in of_spec("two-teams.yaml").verdicts} == {Kind.FITS}
    found = {each.job: each for each in of_spec("two-teams.yaml", {"h100": 9}).verdicts}
    assert found["finetune"].kind is Kind.ONLY_IF
    assert "room for 1 more pod" in found["finetune"].conditions[0]


@pytest.mark.slow
def test_jobs_of_slurm_are_not_simulated() -> None:
    assert {each.kind for each in of_spec("jakarta-slurm.yaml").verdicts} == {Kind.UNKNOWN}


def test_a_job_waits_for_those_that_it_would_fit_without() -> None:
    world = made(queue("q", 8 * 4))
    jobs = (job("first", "q", 1), job("second", "q", 3, created=1), job("third", "q", 2, created=2))
    third = of(world, *jobs)["third"]
    assert third.kind is Kind.WAITS
    assert third.blockers == ("second",)
    assert third.edits == ("2 more nodes of quota for queue `q` in `main`",)


def test_a_job_of_a_strict_queue_waits_for_the_one_before_it() -> None:
    world = made(queue("q", 8 * 4, queueingStrategy="StrictFIFO"))
    jobs = job("runs", "q", 3), job("ahead", "q", 2, created=1), job("behind", "q", 1, created=2)
    found = of(world, *jobs)
    assert found["ahead"].blockers == ("runs",)
    assert found["behind"].kind is Kind.WAITS
    assert found["behind"].blockers == ("ahead",)


def test_two_that_do_not_fit_together_fit_if_they_come_first() -> None:
    found = of(made(queue("q", 8 * 4)), job("a", "q", 3), job("b", "q", 2))
    assert {each.kind for each in found.values()} == {Kind.ONLY_IF}
    assert found["a"].conditions == ("it is admitted before `b`",)
    assert found["b"].conditions == ("it is admitted before `a`",)


def test_what_excludes_a_job_is_named_without_what_does_not() -> None:
    (never,) = of(made(queue("q", 8 * 4)), job("large", "q", 5)).values()
    assert never.kind is Kind.NEVER
    (quota,) = never.conflict
    assert "can get 32 nvidia.com/gpu of `main`" in quota
    assert "asks for 40" in quota
    assert never.edits == ("1 more node of quota for queue `q` in `main`", "`nodes: 4` for `large`")


def test_a_level_that_no_domain_satisfies_is_named_with_the_nodes() -> None:
    world = made(queue("q", 8 * 9), racks=[2, 2])
    (never,) = of(world, job("wide", "q", 3, mode="required")).values()
    assert never.conflict == (
        f"topology: 3 pods, required `{LEVEL}`",
        "nodes: 4 of its flavors, for 3 pods",
    )
    assert f"`{LEVEL}` preferred instead of required for `wide`" in never.edits
    assert "`nodes: 2` for `wide`" in never.edits


def test_too_few_nodes_are_named_without_the_level() -> None:
    world = made(queue("q", 8 * 9), racks=[2, 2])
    (never,) = of(world, job("huge", "q", 5, mode="preferred")).values()
    assert never.conflict == ("nodes: 4 of its flavors, for 5 pods",)


def test_a_job_without_a_queue_says_so() -> None:
    (never,) = of(made(queue("q", 8)), job("lost", "other", 1)).values()
    assert never.conflict == ("namespace `team` has no queue `other`",)


def test_a_job_that_takes_quota_back_says_whom_it_ends() -> None:
    reclaim = {"cohortName": "all", "preemption": {"reclaimWithinCohort": "Any"}}
    world = made(queue("a", 8, **reclaim), queue("b", 8, **reclaim))
    borrower, owner = job("borrower", "a", 2), job("owner", "b", 1, created=1)
    found = of(world, borrower, owner)
    assert found["owner"].kind is Kind.FITS
    assert found["borrower"].kind is Kind.WAITS
    assert found["borrower"].blockers == ("owner",)


def test_a_job_that_ends_one_of_its_cycle_before_says_so() -> None:
    """In the first cycle the head of each queue gets a node; then `second` takes the node back that `borrower` has."""
    reclaim = {"cohortName": "all", "preemption": {"reclaimWithinCohort": "Any"}}
    world = made(queue("a", 16, **reclaim), queue("b", 0, cohortName="all"))
    jobs = job("first", "a", 1), job("second", "a", 1, created=1), job("borrower", "b", 1)
    found = of(world, *jobs)
    assert [found[name].kind for name in ("first", "second")] == [Kind.FITS, Kind.FITS]
    assert (found["first"].preempts, found["second"].preempts) == ((), ("borrower",))
    assert found["borrower"].kind is Kind.WAITS


def many(count: int) -> Forecast:
    """So many jobs alike that all want one node, of which there are some too few."""
    jobs = [job(f"j{number:02}", "q", 1) for number in range(count)]
    titles = {each.key: each.name for each in jobs}
    world = made(queue("q", 8 * (count - 2)), racks=[count])
    return forecast(Cluster("lab", world, jobs, titles, (), (), (), frozenset()))


def test_of_very_many_jobs_few_orders_are_tried() -> None:
    few, much = many(4), many(42)
    note = "of the orders in which the jobs may come four were tried"
    assert (note in few.notes, note in much.notes) == (False, True)
    assert {each.kind for each in few.verdicts} == {Kind.ONLY_IF}
    # Two of them are refused in each order, and all are alike.
    assert {each.kind for each in much.verdicts} == {Kind.ONLY_IF}


def test_parts_of_a_cluster_that_share_nothing_are_judged_as_each_alone() -> None:
    """However many jobs the cluster has in all."""

    def part(name: str) -> tuple[list[dict[str, Any]], list[Job]]:
        preemption = {"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "LowerPriority"}
        own = {"cohortName": name, "preemption": preemption}
        queues = [queue(f"{name}a", 16, **own), queue(f"{name}b", 8, **own)]
        jobs = [
            job(f"{name}1", f"{name}a", 1, priority=5),
            job(f"{name}2", f"{name}a", 2),
            job(f"{name}3", f"{name}b", 1),
            job(f"{name}4", f"{name}b", 2, priority=5),
        ]
        return queues, jobs

    queues, jobs = part("p00")
    alone = of(made(*queues), *jobs)
    assert {Kind.ONLY_IF} < {each.kind for each in alone.values()}
    parts = [part(f"p{number:02}") for number in range(12)]
    together = of(
        made(*(each for queues, _ in parts for each in queues)),
        *(each for _, jobs in parts for each in jobs),
    )
    assert len(together) == 48
    for name, verdict in together.items():
        assert verdict.kind is alone[f"p00{name[-1]}"].kind, name


def test_what_is_said_without_a_condition_is_so_in_every_order() -> None:
    """Jobs of random worlds in every order, one after the other and at once: a job that fits is admitted in all of
    them, and one that waits in none."""
    preemption = {"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "LowerPriority"}
    one = {"cohortName": "all", "preemption": preemption}
    worlds = (
        made(queue("a", 16, **one), queue("b", 8, **one, queueingStrategy="StrictFIFO")),
        made(queue("a", 8 * 5), queue("b", 8, cohortName="all"), queue("c", 16, cohortName="all")),
    )
    said: set[Kind] = set()
    for world in worlds:
        jobs = [
            job("a1", "a", 1, priority=5),
            job("a2", "a", 2),
            job("b1", "b", 1),
            job("b2", "b", 2, priority=5),
        ]
        found = of(world, *jobs)
        said |= {each.kind for each in found.values()}
        ends: dict[str, set[bool]] = {each.name: set() for each in jobs}
        for order in permutations(jobs):
            for arrival in (Arrival((order,)), Arrival(tuple((each,) for each in order))):
                for work in arrival.run(world).works.values():
                    ends[work.job.name].add(work.admission is not None)
        for name, verdict in found.items():
            assert ends[name] == {Kind.FITS: {True}, Kind.WAITS: {False}}.get(
                verdict.kind, {True, False}
            )
    assert {Kind.FITS, Kind.ONLY_IF} <= said


@pytest.mark.parametrize("bound", ["_TRIED", "_MOST_RIVALS"])
def test_where_too_many_share_a_quota_nothing_is_tried_out(
    bound: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = "for some jobs no changes that help were looked for: too many share quotas or nodes"
    found = many(4)
    assert note not in found.notes
    assert all(each.edits for each in found.verdicts)
    monkeypatch.setattr(f"trainyard.extensions.forecast.simulate.forecasts.{bound}", 0)
    found = many(4)
    assert note in found.notes
    assert not all(each.edits for each in found.verdicts)


def tainted(name: str) -> dict[str, object]:
    """A flavor that few pods tolerate."""
    taint = {"key": "team", "value": "other", "effect": "NoSchedule"}
    return {"kind": "ResourceFlavor", "metadata": {"name": name}, "spec": {"nodeTaints": [taint]}}


def test_the_taints_that_keep_a_job_out_are_named() -> None:
    """Of two flavors one has taints, and too little of the other is there: both are reasons, and one is enough."""
    flavors = [
        {"name": name, "resources": [{"name": "nvidia.com/gpu", "nominalQuota": gpus}]}
        for name, gpus in (("main", 8), ("held", 64))
    ]
    groups = [{"coveredResources": ["nvidia.com/gpu"], "flavors": flavors}]
    world = made(queue("q", None, resourceGroups=groups), more=[tainted("held")])
    (never,) = of(world, job("wide", "q", 4)).values()
    assert never.kind is Kind.NEVER
    assert any("the taints of flavor `held`" in reason for reason in never.conflict), never.conflict
    (fits,) = of(world, job("narrow", "q", 1)).values()
    assert fits.kind is Kind.FITS


def test_a_resource_that_a_queue_does_not_cover_is_named() -> None:
    world = made(queue("q", 64))
    wide = job("wide", "q", 1)
    (pods,) = wide.pod_sets
    asking = replace(wide, pod_sets=(replace(pods, requests={**pods.requests, "cpu": 4000}),))
    (never,) = of(world, asking).values()
    assert never.kind is Kind.NEVER
    assert never.conflict == ("queue `q` has no quota of cpu, the job asks for 4",)


def test_a_selector_that_no_node_meets_is_named() -> None:
    world = made(queue("q", 64), racks=[2])
    wide = job("wide", "q", 1)
    (pods,) = wide.pod_sets
    held = replace(wide, pod_sets=(replace(pods, selector={"kubernetes.io/hostname": "gone"}),))
    (never,) = of(world, held).values()
    assert never.kind is Kind.NEVER
    assert any("its node selector or affinity" in reason for reason in never.conflict)
    (fits,) = of(world, wide).values()
    assert fits.kind is Kind.FITS


def test_a_selector_that_nodes_meet_is_no_reason() -> None:
    world = made(queue("q", 64), racks=[2])
    wide = job("wide", "q", 3)
    (pods,) = wide.pod_sets
    held = replace(wide, pod_sets=(replace(pods, selector={LEVEL: "r0"}),))
    (never,) = of(world, held).values()
    assert never.conflict == ("nodes: 2 of its flavors, for 3 pods",)


def test_pods_of_one_job_share_what_a_node_runs() -> None:
    """A node runs 110 pods: of two sets of one job as many as of one."""
    world = made(queue("q", 64), racks=[1])
    both = job("both", "q", 55, gpus=0)
    (pods,) = both.pod_sets
    with_launcher = replace(both, pod_sets=(pods, replace(pods, name="launcher")))
    (fits,) = of(world, with_launcher).values()
    assert fits.kind is Kind.FITS
    more = replace(pods, name="launcher", count=56)
    (never,) = of(world, replace(both, pod_sets=(pods, more))).values()
    assert never.kind is Kind.NEVER


def test_who_borrows_nothing_comes_before_a_borrower_of_no_weight() -> None:
    none, small, heavy, weightless = (
        Share(0.0, 0.0, frozenset()),
        Share(1.0, 1.0, frozenset()),
        Share(1.0, 4.0, frozenset()),
        Share(0.5, 0.0, frozenset()),
    )
    shares = [weightless, small, heavy, none]
    assert sorted(shares, key=lambda share: share.rank) == [none, heavy, small, weightless]
    assert [share.rank for share in shares] == [
        (True, 0.5),
        (False, 1.0),
        (False, 0.25),
        (False, 0.0),
    ]
