"""Parts of the admission in the smallest scenarios, by hand from Kueue's documentation and source."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from trainyard.extensions.forecast.simulate.admission import Cycle
from trainyard.extensions.forecast.simulate.objects import Job, Placement, PodSet, _fnv1a
from trainyard.extensions.forecast.simulate.reading import whole
from trainyard.extensions.forecast.simulate.simulator import Repeats, Simulator
from trainyard.extensions.forecast.simulate.state import Obstacle, Progress, Work

from simulate.worlds import GPU, LEVEL, admitted, job, made, queue, settled

COHORT = {"cohortName": "all"}
FAIR = {**COHORT, "preemption": {"reclaimWithinCohort": "Any", "withinClusterQueue": "Never"}}


def test_fewer_pods_are_admitted_where_fewer_will_do() -> None:
    """kueue.x-k8s.io/job-min-parallelism: as many as fit, at least so many."""
    world = made(queue("q", 8 * 5))
    assert admitted(settled(world, job("a", "q", 8, least=2))) == {"a": 5}
    assert admitted(settled(world, job("a", "q", 8, least=6))) == {}
    assert admitted(settled(world, job("a", "q", 8))) == {}


@pytest.mark.parametrize(
    ("quota", "counts"),
    [
        (20, [5, 5, 5, 5]),
        (19, [5, 5, 4, 5]),
        (15, [4, 5, 3, 3]),
        (12, [3, 4, 1, 2]),
        (10, [3, 4, 1, 2]),
        (9, None),
    ],
)
def test_sets_get_smaller_together(quota: int, counts: list[int] | None) -> None:
    """The set sizes of Kueue 0.19.2's own test of its search (podset_reducer_test.go), which says how many pods are
    left in all. There are as many steps as pods may be spared; each takes from every set its part, rounded down."""
    least = (3, 4, 1, 2)
    sets = tuple(PodSet(f"s{index}", 5, {GPU: 1}, each) for index, each in enumerate(least))
    found = settled(made(queue("q", quota)), Job("team", "j", "q", sets)).works["team/j"].admission
    assert (found and [each.count for each in found.sets]) == counts


def test_what_may_be_smaller_is_smaller_before_it_preempts_nobody() -> None:
    """With preemption the largest size counts for which jobs to preempt are found, not the largest that is free."""
    policy = {"preemption": {"withinClusterQueue": "LowerPriority"}}
    low, high = job("low", "q", 3), job("high", "q", 5, least=1, priority=1)
    simulator = settled(made(queue("q", 8 * 4, **policy)), low)
    simulator.submit(high)
    simulator.settle()
    assert admitted(simulator) == {"high": 4}
    simulator = settled(made(queue("q", 8 * 4)), low)
    simulator.submit(high)
    simulator.settle()
    assert admitted(simulator) == {"low": 3, "high": 1}


def test_all_sets_of_pods_are_admitted_or_none() -> None:
    def two_sets(workers: int) -> Job:
        sets = (PodSet("launcher", 1, {GPU: 8}), PodSet("node", workers, {GPU: 8}))
        return Job("team", "mpi", "q", sets)

    world = made(queue("q", 8 * 4))
    assert admitted(settled(world, two_sets(3))) == {"mpi": 4}
    assert admitted(settled(world, two_sets(4))) == {}


def test_sets_of_pods_do_not_share_a_node() -> None:
    sets = tuple(
        PodSet(name, 2, {GPU: 8}, placement=job("x", "q", 1, mode="required").pod_sets[0].placement)
        for name in ("a", "b")
    )
    four = Job("team", "j", "q", sets)
    assert admitted(settled(made(queue("q", 8 * 9), racks=[2, 2]), four)) == {"j": 4}
    assert admitted(settled(made(queue("q", 8 * 9), racks=[3, 1]), four)) == {}


def test_fair_sharing_gives_the_queue_that_borrows_less_its_turn() -> None:
    """Without it age decides: the second job of `a` is older than that of `b`, and takes twice as much."""
    queues = queue("a", 0, **COHORT), queue("b", 0, **COHORT), queue("c", 8 * 5, **COHORT)
    jobs = [job(f"a{i}", "a", 2, created=i) for i in range(4)]
    jobs += [job(f"b{i}", "b", 1, created=10 + i) for i in range(4)]
    assert set(admitted(settled(made(*queues), *jobs))) == {"a0", "b0", "a1"}
    assert set(admitted(settled(made(*queues, fair=True), *jobs))) == {"a0", "b0", "b1", "b2"}


def test_fair_sharing_takes_back_from_the_queue_with_the_larger_share() -> None:
    queues = queue("a", 0, **FAIR), queue("b", 0, **FAIR), queue("c", 8 * 4, **FAIR)
    simulator = settled(made(*queues, fair=True), *(job(f"a{i}", "a", 1) for i in range(4)))
    assert len(admitted(simulator)) == 4
    for index in range(4):
        simulator.submit(job(f"b{index}", "b", 1, created=10 + index))
    simulator.settle()
    shares = [name[0] for name in admitted(simulator)]
    assert (shares.count("a"), shares.count("b")) == (2, 2)


@pytest.mark.parametrize(
    ("preference", "preempted"),
    [(None, False), ("BorrowingOverPreemption", False), ("PreemptionOverBorrowing", True)],
)
def test_what_a_queue_prefers_of_two_flavors(preference: str | None, preempted: bool) -> None:
    """Its own quota, where a job of lower priority is, or that of another queue; that job then borrows it."""
    own = queue("q", 16, **COHORT, preemption={"withinClusterQueue": "LowerPriority"})
    flavors = own[0]["spec"]["resourceGroups"][0]["flavors"]
    flavors.append({"name": "plain", "resources": [{"name": GPU, "nominalQuota": 0}]})
    own[0]["spec"]["flavorFungibility"] = {"whenCanBorrow": "TryNextFlavor"}
    if preference is not None:
        own[0]["spec"]["flavorFungibility"]["preference"] = preference
    lender = queue("lender", 16, **COHORT)
    lender[0]["spec"]["resourceGroups"][0]["flavors"][0]["name"] = "plain"
    simulator = settled(made(own, lender, more=[PLAIN]), job("low", "q", 2))
    simulator.submit(job("high", "q", 2, priority=9, created=5))
    simulator.settle()
    assert admitted(simulator) == {"low": 2, "high": 2}
    assert simulator.works["team/low"].preempted_by == (["team/high"] if preempted else [])


def test_what_is_within_its_own_quota_is_left_alone() -> None:
    """Of each of two queues that borrow a node, the newest job, whatever is newer in the other one."""
    lenders = [queue(name, 16, **COHORT) for name in ("old", "new")]
    world = made(queue("q", 16, **FAIR), *lenders)
    jobs = [
        job(f"{name}{index}", name, 1, created=10 * first + index)
        for first, name in enumerate(("old", "new"))
        for index in range(3)
    ]
    simulator = settled(world, *jobs)
    assert len(admitted(simulator)) == 6
    simulator.submit(job("own", "q", 2, created=30))
    simulator.settle()
    assert set(admitted(simulator)) == {"own", "old0", "old1", "new0", "new1"}


@pytest.mark.parametrize(
    ("priority", "nodes", "ended"),
    [(3, 2, ["o4", "o5"]), (3, 3, ["o3", "o4", "o5"]), (7, 2, ["o4", "o5"]), (7, 3, [])],
)
def test_whom_a_queue_may_end_to_borrow(priority: int, nodes: int, ended: list[str]) -> None:
    """Those up to the threshold; for its own quota, any that borrows."""
    borrows = {"policy": "LowerPriority", "maxPriorityThreshold": 5}
    policy = {"reclaimWithinCohort": "Any", "borrowWithinCohort": borrows}
    queues = (
        queue("q", 16, **COHORT, preemption=policy),
        queue("o", 16, **COHORT),
        queue("idle", 16, **COHORT),
    )
    simulator = settled(
        made(*queues), *(job(f"o{i}", "o", 1, priority=priority, created=i) for i in range(6))
    )
    assert len(admitted(simulator)) == 6
    simulator.submit(job("own", "q", nodes, priority=9, created=30))
    simulator.settle()
    left = admitted(simulator)
    assert sorted({f"o{i}" for i in range(6)} - left.keys()) == ended
    assert ("own" in left) is bool(ended)


def test_a_larger_weight_has_a_larger_share() -> None:
    jobs = [job(f"{name}{i}", name, 1, created=i) for i in range(4) for name in "ab"]
    for weight, expected in (("3", (1, 3)), ("1", (2, 2)), ("0", (4, 0))):
        weighed = {**FAIR, "fairSharing": {"weight": weight}}
        queues = queue("a", 0, **FAIR), queue("b", 0, **weighed), queue("c", 8 * 4, **FAIR)
        shares = [name[0] for name in admitted(settled(made(*queues, fair=True), *jobs))]
        assert (shares.count("a"), shares.count("b")) == expected, weight


def test_a_strict_queue_holds_back_what_would_fit() -> None:
    large, small = job("large", "q", 5), job("small", "q", 1, created=1)
    strict = made(queue("q", 8 * 4, queueingStrategy="StrictFIFO"))
    assert admitted(settled(strict, large, small)) == {}
    assert admitted(settled(made(queue("q", 8 * 4)), large, small)) == {"small": 1}


def test_quota_of_the_own_side_of_the_tree_is_taken_back() -> None:
    """`a` asks for more than its own and than is free, and its cohort has it: of that `c` may be preempted."""
    policy = {"preemption": {"reclaimWithinCohort": "Any"}}
    left, right = {"cohortName": "left", **policy}, {"cohortName": "right", **policy}
    cohorts = [
        {"kind": "Cohort", "metadata": {"name": name}, "spec": {"parentName": "all"}}
        for name in ("left", "right")
    ]
    queues = queue("a", 8, **left), queue("b", 24, **left), queue("c", 0, **right)
    simulator = settled(made(*queues, more=cohorts), job("theirs", "c", 4))
    simulator.submit(job("ours", "a", 2))
    simulator.settle()
    assert admitted(simulator) == {"ours": 2}
    assert simulator.works["team/theirs"].preempted_by == ["team/ours"]


def test_where_jobs_preempt_each_other_without_an_end_all_repeats(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is free goes to the first head of the cohort, whoever preempted for it: found by running it."""
    cycles: Counter[str] = Counter()
    run = Cycle.run

    def counted(cycle: Cycle, heads: list[Work]) -> None:
        cycles["all"] += 1
        run(cycle, heads)

    monkeypatch.setattr(Cycle, "run", counted)
    fast = _endless()
    few = cycles["all"]
    monkeypatch.setattr(Repeats, "period", lambda *_: 0)
    slow = _endless()
    assert (fast.settled, slow.settled) == (False, False)
    assert admitted(fast) == admitted(slow)
    assert few < 100 < cycles["all"] - few


def _endless() -> Simulator:
    policy = {"preemption": {"reclaimWithinCohort": "Any", "withinClusterQueue": "LowerPriority"}}
    chosen = random.Random(208)
    queues = [queue(f"q{index}", 8 * 3, **COHORT, **policy) for index in range(4)]
    jobs = [
        job(f"j{index}", f"q{chosen.randrange(4)}", chosen.randint(1, 3), priority=chosen.randrange(3))
        for index in range(16)
    ]  # fmt: skip
    return settled(made(*queues), *jobs)


def test_a_strict_head_that_goes_through_its_flavors_again_and_again_moves_nothing() -> None:
    """`wide` could preempt `low` for its quota, and not for a place beside `theirs`; its second flavor has no quota.
    Kueue looks at it in every cycle, at one flavor and then at the other."""
    bodies = queue(
        "q",
        16,
        queueingStrategy="StrictFIFO",
        preemption={"withinClusterQueue": "LowerPriority"},
        flavorFungibility={"whenCanPreempt": "Preempt"},
    )
    empty = {"name": "other", "resources": [{"name": GPU, "nominalQuota": 0}]}
    bodies[0]["spec"]["resourceGroups"][0]["flavors"].append(empty)
    other = {
        "kind": "ResourceFlavor",
        "metadata": {"name": "other"},
        "spec": {"topologyName": "net"},
    }
    world = made(bodies, queue("z", 8), racks=[2], more=[other])
    theirs, low = job("theirs", "z", 1, mode="required"), job("low", "q", 1, mode="required")
    wide = job("wide", "q", 2, mode="required", priority=1)
    simulator = settled(world, theirs, low)
    simulator.submit(wide)
    simulator.settle()
    assert simulator.settled
    assert admitted(simulator) == {"theirs": 1, "low": 1}
    simulator.end(["team/theirs"])
    simulator.settle()
    assert admitted(simulator) == {"wide": 2}


def test_jobs_that_preempt_each_other_come_to_an_end() -> None:
    policy = {"preemption": {"reclaimWithinCohort": "Any", "withinClusterQueue": "LowerPriority"}}
    queues = (
        queue("a", 8, **COHORT, **policy),
        queue("b", 8, **COHORT, **policy),
        queue("c", 8, **COHORT, **policy),
    )
    jobs = [job(f"{name}{i}", name, 2, created=i) for i in range(3) for name in "abc"]
    assert settled(made(*queues), *jobs).settled


@pytest.mark.parametrize(
    ("cycle", "released", "kept"),
    [
        (6, 2, True),
        (6, 3, True),  # the next cycle goes on, whatever was given back
        (7, 2, True),
        (7, 3, False),
        (9, 2, True),
    ],
)
def test_where_a_job_was_in_its_flavors_counts_until_something_is_given_back(
    cycle: int, released: int, kept: bool
) -> None:
    """The scan is of the fifth cycle, by which two jobs had given their nodes back."""
    simulator = settled(made(queue("q", 8)), job("a", "q", 2))
    (work,) = simulator.works.values()
    work.progress = Progress(({"gpu": 1},), cycle=5, released=2)
    simulator._cycle, simulator._released = cycle, released
    simulator._forget_old(work)
    assert (work.progress is not None) is kept


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0xCBF29CE484222325),
        ("a", 0xAF63DC4C8601EC8C),
        ("foo", 0xDCB27518FED9D577),
        ("foobar", 0x85944171F73967E8),
    ],
)
def test_the_hash_is_fnv_1a(text: str, expected: int) -> None:
    """Test vectors of the authors (draft-eastlake-fnv, appendix C)."""
    assert _fnv1a(text) == expected


def of_groups(*groups: tuple[str, str, int]) -> list[dict[str, Any]]:
    """A queue with a group of one flavor for each resource: its name, the flavor and the quota."""
    parts = queue("q", 0)
    parts[0]["spec"]["resourceGroups"] = [
        {
            "coveredResources": [name],
            "flavors": [{"name": flavor, "resources": [{"name": name, "nominalQuota": quota}]}],
        }
        for name, flavor, quota in groups
    ]
    return parts


PLAIN = {"kind": "ResourceFlavor", "metadata": {"name": "plain"}, "spec": {}}
NOWHERE = {
    "kind": "ResourceFlavor",
    "metadata": {"name": "nowhere"},
    "spec": {"topologyName": "none"},
}
MORE = [PLAIN, NOWHERE]
OF_MAIN = of_groups((GPU, "main", 64))


def wants(level: str | None = None, count: int = 2, **requests: int) -> Job:
    """A job of pods with eight GPUs; ``level``: of which they need one domain; ``requests``: what else they ask for."""
    placement = Placement("required", level) if level else None
    pods = PodSet("node", count, {GPU: 8, **requests}, placement=placement)
    return Job("team", "a", "q", (pods,), 0, 0)


@pytest.mark.parametrize(
    ("groups", "asked", "obstacles"),
    [
        # pods are counted where a group covers them, whatever they ask for
        ((*OF_MAIN,), wants(), []),
        # their flavor needs no topology, and is then none of pods that want no place
        ((*of_groups((GPU, "main", 64), ("pods", "plain", 2)),), wants(LEVEL), []),
        (
            (*of_groups((GPU, "main", 64), ("pods", "plain", 2)),),
            wants(LEVEL, count=3),
            [Obstacle("most", "plain", "pods", 1)],
        ),
        (
            (*of_groups((GPU, "main", 64), ("pods", "plain", 2)),),
            wants(),
            [Obstacle("topology-flavor", "main", detail="only")],
        ),
        # a resource of no group, of which nothing is asked
        ((*OF_MAIN,), wants(cpu=1000), [Obstacle("uncovered", resource="cpu")]),
        ((*OF_MAIN,), wants(cpu=0), []),
        # a flavor without the topology, or without the level
        (
            (*of_groups((GPU, "plain", 64)),),
            wants(LEVEL),
            [Obstacle("topology-flavor", "plain", detail="none")],
        ),
        (
            (*OF_MAIN,),
            wants("example.com/row"),
            [Obstacle("topology-flavor", "main", detail="example.com/row")],
        ),
        (
            (*of_groups((GPU, "nowhere", 64)),),
            wants(LEVEL),
            [Obstacle("topology-flavor", "nowhere", detail=LEVEL)],
        ),
        # a queue that has a flavor that is not there
        ((*of_groups((GPU, "lost", 64)),), wants(), [Obstacle("queue-inactive", detail="q")]),
        # a LocalQueue of a queue that is not there, and none
        ((OF_MAIN[1],), wants(), [Obstacle("no-queue", detail="q")]),
        ((OF_MAIN[0],), wants(), [Obstacle("no-local-queue")]),
    ],
)
def test_what_is_in_the_way_of_a_job(
    groups: tuple[dict[str, Any], ...], asked: Job, obstacles: list[Obstacle]
) -> None:
    found = settled(made(groups, racks=[4], more=MORE), asked).works["team/a"]
    assert list(found.obstacles or ()) == obstacles
    assert (found.admission is not None) is (obstacles == [])


def test_a_flavor_with_a_topology_is_not_for_pods_that_want_none_beside_another() -> None:
    """They are placed in it only where the queue has no other flavor."""
    both = of_groups((GPU, "main", 64))
    flavors = both[0]["spec"]["resourceGroups"][0]["flavors"]
    flavors.append({**flavors[0], "name": "plain"})
    found = settled(made(both, racks=[4], more=MORE), wants(count=9)).works["team/a"]
    assert list(found.obstacles or ()) == [
        Obstacle("topology-flavor", "main", detail="only"),
        Obstacle("most", "plain", GPU, 8),
    ]
    assert admitted(settled(made(both, racks=[4], more=MORE), wants())) == {"a": 2}


def test_what_no_group_covers_is_passed_over_where_kueue_is_told_so() -> None:
    world = replace(made(OF_MAIN), only_covered=True)
    assert admitted(settled(world, wants(cpu=1000))) == {"a": 2}


@pytest.mark.parametrize("value", [None, "", "many", "1e", [1], {}])
def test_an_amount_that_is_none_is_nothing(value: Any) -> None:
    """The objects of third parties may say anything."""
    assert whole("cpu", value) == 0
    assert whole("cpu", "1500m") == 1500
    assert whole("memory", "1.5") == 2
