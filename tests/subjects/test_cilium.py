"""Cilium behind the VPC CNI: its chart, who enforces policies, what nodes start with and what it takes of them."""

from __future__ import annotations

from typing import Any

import pytest
from builders import faults_of, job_of, objects_of, plan_of, spec
from trainyard.eks.cluster.plan import Cluster
from trainyard.eks.flux.plan import HelmRelease
from trainyard.eks.nodes.plan import NodePool
from trainyard.eks.teams.plan import NetworkPolicy
from trainyard.plan import Plan

CHAINED: dict[str, Any] = {"cilium": {}}


@pytest.fixture(scope="module")
def plan() -> Plan:
    return plan_of(spec(network=CHAINED))


def release(plan: Plan) -> HelmRelease:
    (found,) = (each for each in plan.of(HelmRelease) if each.name == "cilium")
    return found


def test_the_chain_leaves_the_vpc_cni_its_work(plan: Plan) -> None:
    values = release(plan).values
    assert values["cni"] == {"chainingMode": "aws-cni", "exclusive": False}
    assert values["enableIPv4Masquerade"] is False
    assert values["routingMode"] == "native"
    assert values["tolerations"] == [{"operator": "Exists"}]


def enforcing(plan: Plan) -> object:
    (addon,) = (each for each in plan.of(Cluster)[0].addons if each.name == "vpc-cni")
    return addon.values["enableNetworkPolicy"]


def test_one_of_them_enforces_policies(plan: Plan) -> None:
    assert enforcing(plan) == "false"
    assert enforcing(plan_of(spec())) == "true"


def test_pods_are_named_since_a_block_holds_none(plan: Plan) -> None:
    """Without them no rank resolves a name: CoreDNS is a pod."""
    (policy,) = plan.of(NetworkPolicy)
    assert policy.egress is not None
    peers = [peer for rule in policy.egress for peer in rule.peers]
    assert any(peer.namespaces == {} and peer.cidr is None for peer in peers)
    bodies = [each.body for each in objects_of(plan) if each.ref.kind == "NetworkPolicy"]
    assert {"to": [{"namespaceSelector": {}}]} in bodies[0]["spec"]["egress"]
    (before,) = plan_of(spec()).of(NetworkPolicy)
    assert before.egress == policy.egress[:2]


def test_nodes_wait_for_the_agent_unless_they_are_told_not_to(plan: Plan) -> None:
    (pool,) = plan.of(NodePool)
    assert [str(taint) for taint in pool.startup_taints] == [
        "node.cilium.io/agent-not-ready=true:NoExecute"
    ]
    (other,) = plan_of(spec(network={"cilium": {"startupTaint": False}})).of(NodePool)
    assert other.startup_taints == ()


def test_every_agent_of_a_node_tolerates_the_taint(plan: Plan) -> None:
    for manifest in objects_of(plan):
        if manifest.ref.kind == "DaemonSet":
            pod = manifest.body["spec"]["template"]["spec"]
            assert {"operator": "Exists"} in pod["tolerations"], manifest.ref


def test_the_agent_is_taken_off_a_node_only_where_it_runs() -> None:
    without, with_agent = (
        job_of(data).requests["cpu"].milli for data in (spec(), spec(network=CHAINED))
    )
    assert 200 <= without - with_agent < 1200


def test_two_that_enforce_are_reported() -> None:
    addons = {"vpc-cni": {"values": {"enableNetworkPolicy": "true"}}}
    faults = faults_of(spec(network=CHAINED, platform={"eks": {"addons": addons}}))
    assert [fault.code for fault in faults] == ["RES185"]
