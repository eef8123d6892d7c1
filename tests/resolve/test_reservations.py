"""A pool of several reservations: a NodePool for each, and gangs kept inside one."""

from __future__ import annotations

from typing import Any

from builders import plan_of, spec
from trainyard.core.pods.plan import HUGEPAGES
from trainyard.core.pools.topology import NETWORK_LAYERS
from trainyard.eks.jobs.plan import Runtime
from trainyard.eks.kueue.plan import Flavor, Topology
from trainyard.eks.nodes.plan import NodeClass, NodeOverlay, NodePool
from trainyard.plan.scheduling import (
    HOSTNAME,
    NODEPOOL_LABEL,
    POOL_LABEL,
    RESERVATION_LABEL,
    Requirement,
)

BLOCKS = {
    "block": {
        "reservations": [{"id": "cr-0a100000", "nodes": 3}, {"id": "cr-0b200000", "nodes": 1}]
    }
}
LEVEL = "kueue.x-k8s.io/podset-preferred-topology"


def pool(**more: Any) -> dict[str, Any]:
    return {"capacity": BLOCKS, "nodes": 4, **more}


def test_each_reservation_is_a_node_pool_with_its_class_and_as_many_nodes() -> None:
    plan = plan_of(spec(pool=pool(labels={"team.example.com/cost": "a"}), job={"nodes": 2}))
    assert [
        (each.name, each.replicas, each.limits["nodes"].value) for each in plan.of(NodePool)
    ] == [("gpu-cr-0a100000", 3, 3), ("gpu-cr-0b200000", 1, 1)]
    for each, reservation in zip(plan.of(NodePool), ("cr-0a100000", "cr-0b200000"), strict=True):
        assert each.labels[POOL_LABEL] == "gpu"
        assert each.labels[RESERVATION_LABEL] == reservation
        assert each.labels["team.example.com/cost"] == "a"
        node_class = plan.named(NodeClass, each.node_class)
        assert node_class is not None
        assert [term.id for term in node_class.reservations] == [reservation]
        assert not each.prune
    assert (
        plan.of(NodePool)[1].where("replicas")
        == plan.of(Flavor)[0].at / "capacity" / 0 / "block" / "reservations" / 1 / "nodes"
    )


def test_one_flavor_has_the_nodes_of_all_and_jobs_select_them() -> None:
    plan = plan_of(spec(pool=pool(), job={"nodes": 2}))
    (flavor,) = plan.of(Flavor)
    assert (flavor.name, flavor.node_labels) == ("gpu", {POOL_LABEL: "gpu"})
    assert plan.of(Runtime)[0].jobs[0].pod.node_selector == {POOL_LABEL: "gpu"}


def test_the_reservation_is_the_widest_level_of_the_topology() -> None:
    plain, network = (
        plan_of(spec(pool=pool(), job={"nodes": 2})),
        plan_of(spec(pool=pool(topology="network"))),
    )
    assert [(each.name, each.levels) for each in plain.of(Topology)] == [
        ("reservations", (RESERVATION_LABEL, HOSTNAME))
    ]
    assert [(each.name, each.levels) for each in network.of(Topology)] == [
        ("reservations-ec2-network", (RESERVATION_LABEL, *NETWORK_LAYERS, HOSTNAME))
    ]
    for plan, level in ((plain, RESERVATION_LABEL), (network, NETWORK_LAYERS[-1])):
        assert plan.of(Flavor)[0].topology == plan.of(Topology)[0].name
        assert plan.of(Runtime)[0].jobs[0].pod.annotations[LEVEL] == level
        # Kueue leaves out nodes that lack the label of a level: the template of each NodePool has it.
        assert all(RESERVATION_LABEL in each.labels for each in plan.of(NodePool))


def test_a_job_of_one_node_is_left_where_it_lands() -> None:
    plan = plan_of(spec(pool=pool(), job={"nodes": 1}))
    assert LEVEL not in plan.of(Runtime)[0].jobs[0].pod.annotations


def test_a_pool_that_starts_from_nothing_has_no_topology() -> None:
    plan = plan_of(spec(pool=pool(nodes={"max": 4})))
    assert plan.of(Topology) == ()
    assert [each.limits["nvidia.com/gpu"].value for each in plan.of(NodePool)] == [24, 8]
    (overlay,) = plan.of(NodeOverlay)
    assert overlay.requirements == (
        Requirement(NODEPOOL_LABEL, "In", ("gpu-cr-0a100000", "gpu-cr-0b200000")),
    )
    assert HUGEPAGES in overlay.capacity


def test_a_list_of_one_has_the_names_that_it_has_with_more() -> None:
    """So that a block that ends leaves the NodePools, the flavor and the topology of the others as they are."""
    both = plan_of(spec(pool=pool()))
    one = {"block": {"reservations": [{"id": "cr-0a100000", "nodes": 3}]}}
    left = plan_of(spec(pool=pool(capacity=one, nodes={"min": 3, "max": 3}), job={"nodes": 2}))
    assert [each.name for each in left.of(NodePool)] == ["gpu-cr-0a100000"]
    assert left.of(NodePool)[0].labels == both.of(NodePool)[0].labels
    assert left.of(Flavor) == both.of(Flavor)
    assert left.of(Topology) == both.of(Topology)


def test_names_stay_labels() -> None:
    plan = plan_of(spec(pool=pool(name="a" * 63), job={"nodes": 2}))
    assert all(len(each.name) <= 63 for each in plan.of(NodePool))
    assert len({each.name for each in plan.of(NodePool)}) == 2
