"""Parts of the admission in the smallest scenarios, by hand from Kueue's documentation and source."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from compiler.simulate.cycle import Cycle
from compiler.simulate.objects import Job, PodSet, _fnv1a
from compiler.simulate.repeats import Repeats
from compiler.simulate.simulator import Simulator
from compiler.simulate.state import Progress, Work
from simulate.worlds import GPU, admitted, job, made, queue, settled

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


def test_a_larger_weight_has_a_larger_share() -> None:
    heavy = {**FAIR, "fairSharing": {"weight": "3"}}
    queues = queue("a", 0, **FAIR), queue("b", 0, **heavy), queue("c", 8 * 4, **FAIR)
    jobs = [job(f"{name}{i}", name, 1, created=i) for i in range(4) for name in "ab"]
    shares = [name[0] for name in admitted(settled(made(*queues, fair=True), *jobs))]
    assert (shares.count("a"), shares.count("b")) == (1, 3)


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
