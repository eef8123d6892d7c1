"""Jobs of several pools: what they ask for, where they may land, and what is remembered of them."""

from __future__ import annotations

from typing import Any

import pytest
from builders import body_of, faults_of, objects_of, plan_of, spec
from trainyard.catalog import load_catalog
from trainyard.eks.jobs.plan import Runtime, TrainJob
from trainyard.eks.kueue.plan import ClusterQueue, Flavor
from trainyard.eks.nodes.plan import NodeClass, NodePool
from trainyard.judge.model.reading import Reading
from trainyard.lift import lift
from trainyard.plan import Plan
from trainyard.run.history.runs import Run

ID = "cr-0a1b2c3d4e5f60718"
RESERVED = {
    "name": "reserved",
    "instanceTypes": ["p4d.24xlarge"],
    "zones": ["us-west-2b"],
    "nodes": {"max": 4},
    "capacity": {"reserved": {"reservations": [{"id": ID}]}},
}
DEMAND = {
    "name": "demand",
    "instanceTypes": ["p4d.24xlarge"],
    "zones": ["us-west-2b"],
    "nodes": {"max": 8},
    "taints": [{"key": "example.com/team", "value": "spare"}],
}
SMALL = {
    "name": "small",
    "instanceTypes": ["g5.48xlarge"],
    "zones": ["us-west-2b"],
    "nodes": {"max": 8},
}


def several(*names: str, **job: Any) -> dict[str, Any]:
    pools = [RESERVED, DEMAND, SMALL]
    quota = [{"pool": pool["name"], "nodes": 4} for pool in pools]
    data = spec(job={"pool": list(names), **job})
    data["spec"].update(
        namespaces=[{"name": "team-a"}],
        nodePools=pools,
        queues=[{"name": "research", "namespaces": ["team-a"], "quota": quota}],
    )
    return data


def job_of(plan: Plan) -> TrainJob:
    (job,) = plan.of(TrainJob)
    return job


def test_pods_may_land_on_each_pool_and_on_no_other() -> None:
    plan = plan_of(several("reserved", "demand"))
    (runtime,) = plan.of(Runtime)
    pod = runtime.jobs[0].pod
    assert pod.node_selector == {}
    assert len(pod.pools) == 2
    written = body_of(objects_of(plan), "ClusterTrainingRuntime")
    pod_spec = written["spec"]["template"]["spec"]["replicatedJobs"][0]["template"]["spec"][
        "template"
    ]["spec"]
    required = pod_spec["affinity"]["nodeAffinity"][
        "requiredDuringSchedulingIgnoredDuringExecution"
    ]
    terms = [term["matchExpressions"] for term in required["nodeSelectorTerms"]]
    node_pool = "reserved-cr-0a1b2c3d4e5f60718"
    assert terms == [
        [
            {"key": "trainyard.dev/pool", "operator": "In", "values": ["reserved"]},
            {"key": "karpenter.sh/nodepool", "operator": "In", "values": [node_pool]},
        ],
        [
            {"key": "karpenter.sh/nodepool", "operator": "In", "values": ["demand"]},
            {"key": "trainyard.dev/pool", "operator": "DoesNotExist"},
        ],
    ]


@pytest.mark.parametrize(
    ("pool", "others"), [("reserved", ["demand", "small"]), ("demand", ["reserved", "small"])]
)
def test_kueue_takes_no_flavor_of_another_pool(pool: str, others: list[str]) -> None:
    """Kueue 0.19.2 looks at the keys of one flavor alone, and these differ between pools of one queue."""
    plan = plan_of(several(pool))
    (runtime,) = plan.of(Runtime)
    assert _admits(runtime, plan.named(Flavor, pool))
    for other in others:
        assert not _admits(runtime, plan.named(Flavor, other))


def _admits(runtime: Runtime, flavor: Flavor | None) -> bool:
    """checkFlavorForPodSets of kueue v0.19.2: the pods' affinity, without keys that the flavor does not have."""
    assert flavor is not None
    pod = runtime.jobs[0].pod
    labels = flavor.node_labels
    selector = {key: value for key, value in pod.node_selector.items() if key in labels}
    if any(labels[key] != value for key, value in selector.items()):
        return False
    terms = [[said for said in term if said.key in labels] for term in pod.pools]
    if not all(terms):
        return True
    return any(
        all(said.operator == "In" and labels[said.key] in said.values for said in term)
        for term in terms
    )


def test_a_taint_of_one_pool_is_tolerated_by_its_flavor_alone() -> None:
    (runtime,) = plan_of(several("reserved", "demand")).of(Runtime)
    keys = [toleration.key for toleration in runtime.jobs[0].pod.tolerations]
    assert keys == ["nvidia.com/gpu"]


def test_the_least_of_cpu_and_memory_is_asked_for() -> None:
    alone = {name: job_of(plan_of(several(name, nodes=1))) for name in ("demand", "small")}
    both = job_of(plan_of(several("demand", "small", nodes=1)))
    for resource in ("cpu", "memory"):
        amounts = [job.requests[resource] for job in alone.values()]
        assert min(amounts) != max(amounts)
        assert both.requests[resource] == min(amounts)
    assert (both.pool, both.fallbacks) == ("demand", ("small",))


def test_rules_see_every_pool_by_its_flavor() -> None:
    plan = plan_of(several("reserved", "demand"))
    lifted = lift(objects_of(plan), closed=True)
    (work,) = Reading(lifted, load_catalog()).works
    flavors = [choice.flavor.name for choice in work.choices if choice.flavor]
    assert flavors == ["reserved", "demand"]
    assert [len(choice.pools) for choice in work.choices] == [1, 1]


def test_a_host_is_excluded_on_each_pool() -> None:
    static = [{**pool, "nodes": 4} for pool in (RESERVED, {**RESERVED, "name": "b"})]
    static[1]["capacity"] = {"reserved": {"reservations": [{"id": "cr-" + "1" * 17}]}}
    data = several("reserved", "b", excludeNodes=["ip-10-0-1-2.us-west-2.compute.internal"])
    data["spec"]["nodePools"] = static
    data["spec"]["queues"][0]["quota"] = [
        {"pool": "reserved", "nodes": 4},
        {"pool": "b", "nodes": 4},
    ]
    written = body_of(objects_of(plan_of(data)), "ClusterTrainingRuntime")
    text = str(written)
    assert text.count("'NotIn'") == 1
    assert "{'key': 'trainyard.dev/pool', 'operator': 'In', 'values': ['reserved', 'b']}" in text


@pytest.mark.parametrize(
    ("pools", "job", "code"),
    [
        (("demand", "small"), {}, "RES170"),
        (("demand", "small"), {"resources": {"efa": 1}}, None),
        (("demand", "small"), {"nodes": 1}, None),
        (("demand", "reserved"), {}, "RES171"),
        (("reserved", "demand"), {"launcher": {"mpi": {}}, "command": ["mpirun", "t"]}, "RES171"),
    ],
)
def test_what_differs_is_a_fault_of_the_job(
    pools: tuple[str, ...], job: dict[str, Any], code: str | None
) -> None:
    codes = [fault.code for fault in faults_of(several(*pools, **job))]
    assert codes == ([code] if code else [])


def test_the_weights_must_fit_on_the_smallest_accelerator() -> None:
    # 15e9 parameters in bf16 are 28 GiB: an A100 has 40, an A10G 22.
    model = {"parameters": 15e9}
    on_demand = several("demand", nodes=1, model=model)
    either = several("demand", "small", nodes=1, model=model)
    assert faults_of(on_demand) == []
    assert [fault.code for fault in faults_of(either)] == ["RES024"]


def test_one_node_of_a_placed_pool_asks_for_a_topology_beside_pools_without() -> None:
    data = several("reserved", nodes=1)
    data["spec"]["nodePools"][0] = {**RESERVED, "nodes": 4}
    (runtime,) = plan_of(data).of(Runtime)
    key = "kueue.x-k8s.io/podset-unconstrained-topology"
    assert runtime.jobs[0].pod.annotations[key] == "true"
    data["spec"]["queues"][0]["quota"] = [{"pool": "reserved", "nodes": 4}]
    (runtime,) = plan_of(data).of(Runtime)
    assert key not in runtime.jobs[0].pod.annotations


def test_preference_of_a_queue_is_written_and_read_back() -> None:
    data = several("demand")
    fungibility = {
        "whenCanBorrow": "TryNextFlavor",
        "whenCanPreempt": "TryNextFlavor",
        "preference": "PreemptionOverBorrowing",
    }
    data["spec"]["queues"][0]["flavorFungibility"] = fungibility
    plan = plan_of(data)
    written = body_of(objects_of(plan), "ClusterQueue")
    assert written["spec"]["flavorFungibility"] == fungibility
    (lifted,) = lift(objects_of(plan), closed=True).of(ClusterQueue)
    assert lifted.fungibility is not None
    assert lifted.fungibility.preference == "PreemptionOverBorrowing"


def test_a_run_remembers_where_else_it_may_be_only_if_there_is_such_a_pool() -> None:
    run = Run("train", "team-a", "train-12345", pool="reserved")
    assert b"fallbacks" not in run.to_bytes()
    several_pools = Run("train", "team-a", "train-12345", pool="reserved", fallbacks=("demand",))
    assert b'"fallbacks": [\n  "demand"\n ]' in several_pools.to_bytes()


def test_a_pool_whose_reservation_comes_before_others() -> None:
    """One NodePool, which Karpenter fills from the reservation first."""
    ways = [{"reserved": {"reservations": [{"id": ID, "nodes": 2}]}}, {"onDemand": {}}]
    plan = plan_of(spec(pool={"capacity": ways, "nodes": {"max": 4}}))
    (pool,) = plan.of(NodePool)
    assert pool.name == "gpu"
    (kinds,) = (each for each in pool.requirements if each.key == "karpenter.sh/capacity-type")
    assert kinds.values == ("reserved", "on-demand")
    (node_class,) = plan.of(NodeClass)
    assert [term.id for term in node_class.reservations] == [ID]
