"""Rules that word a finding in one of two ways, or point at one of two places, take the one that fits."""

from __future__ import annotations

import pytest

from tests.policy.harness import builtin_rules, findings_for

GROUP = """apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: a, region: us-west-2, version: "1.35"}
managedNodeGroups:
  - {name: wide, instanceType: %s, availabilityZones: [us-west-2b, us-west-2c], %s}
"""


def only(code: str, text: str) -> tuple[str, str]:
    """The message and the place of the one finding of a rule."""
    rules = tuple(rule for rule in builtin_rules() if rule.code == code)
    (found,) = findings_for(text, rules=rules)
    return found.message, str(found.at)


@pytest.mark.parametrize(
    ("instance", "more", "why"),
    [
        ("p4d.24xlarge", "efaEnabled: true", "has EFA"),
        (
            "p5.48xlarge",
            "instanceMarketOptions: {marketType: capacity-block}, capacityReservation: "
            "{capacityReservationTarget: {capacityReservationID: cr-0a1b2c3d4e5f60718}}",
            "is in a Capacity Block",
        ),
    ],
)
def test_why_a_node_group_has_one_zone(instance: str, more: str, why: str) -> None:
    message, _ = only("PLC021", GROUP % (instance, more))
    assert message == f"node group `wide` {why} and spans 2 Availability Zones"


def test_a_token_in_a_command_is_not_shown() -> None:
    """As little as one in a variable."""
    token = "hf_abcdefghijklmnopqrstuvwxyz"
    rules = tuple(rule for rule in builtin_rules() if rule.code == "RUN024")
    command = f"jobs: [{{name: llama, command: [python, train.py, --token={token}]}}]"
    (found,) = findings_for(command, rules=rules)
    assert found.secret


@pytest.mark.parametrize(("nodes", "field"), [("12", "replicas"), ("{max: 12}", "limits")])
def test_where_a_pool_says_how_many_nodes_it_has(nodes: str, field: str) -> None:
    _, place = only("QUE023", f"nodePools: [{{name: gpu, nodes: {nodes}}}]")
    assert field in place
