"""Parts of the admission in the smallest scenarios, by hand from Kueue's documentation and source."""

from __future__ import annotations

from compiler.simulate.objects import Job, PodSet
from simulate.worlds import GPU, admitted, job, made, queue, settled

COHORT = {"cohortName": "all"}
FAIR = {**COHORT, "preemption": {"reclaimWithinCohort": "Any", "withinClusterQueue": "Never"}}


def test_fewer_pods_are_admitted_where_fewer_will_do() -> None:
    """kueue.x-k8s.io/job-min-parallelism: as many as fit, at least so many."""
    world = made(queue("q", 8 * 5))
    assert admitted(settled(world, job("a", "q", 8, least=2))) == {"a": 5}
    assert admitted(settled(world, job("a", "q", 8, least=6))) == {}
    assert admitted(settled(world, job("a", "q", 8))) == {}


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


def test_jobs_that_preempt_each_other_come_to_an_end() -> None:
    policy = {"preemption": {"reclaimWithinCohort": "Any", "withinClusterQueue": "LowerPriority"}}
    queues = (
        queue("a", 8, **COHORT, **policy),
        queue("b", 8, **COHORT, **policy),
        queue("c", 8, **COHORT, **policy),
    )
    jobs = [job(f"{name}{i}", name, 2, created=i) for i in range(3) for name in "abc"]
    assert settled(made(*queues), *jobs).settled
