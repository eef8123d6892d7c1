"""Lower: the stack of the network that the bootstrap makes, and the switch of network policies of EKS Auto Mode."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.network.plan import MadeNetwork, PolicySwitch
from trainyard.eks.network.vpc import network_stack
from trainyard.output import Artifact
from trainyard.output.lowering.body import manifest_in, object_head
from trainyard.output.manifest import Body
from trainyard.plan import Plan


def lower(plan: Plan) -> Iterator[Artifact]:
    """One template, where the spec asks for more than eksctl's VPC."""
    switch = plan.one(PolicySwitch)
    if switch is not None:
        yield manifest_in("platform", policy_switch(switch), switch.at)
    made = plan.one(MadeNetwork)
    if made is not None:
        yield network_stack(made)


def policy_switch(switch: PolicySwitch) -> Body:
    """core/v1 ConfigMap."""
    metadata = object_head("v1", "ConfigMap", switch.name, switch.namespace)
    return {**metadata, "data": {"enable-network-policy-controller": "true"}}
