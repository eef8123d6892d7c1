"""Edits of an existing cluster's VPC or subnets, which never change.

Sources: EKS user guide, network-reqs (the VPC of a cluster cannot be changed after its creation); the provider schemas
of CloudFormation (createOnlyProperties of AWS::EC2::VPC and AWS::EC2::Subnet).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.eks.cluster.plan import Bootstrap, Cluster
from trainyard.eks.network.plan import VPC_ID, MadeNetwork, Network
from trainyard.eks.network.vpc import PATH, network_stack
from trainyard.judge.model.values import mapping
from trainyard.language.diagnostics import Diagnostic
from trainyard.language.diagnostics.diagnostic import error
from trainyard.output.body import value_at
from trainyard.plan import Plan
from trainyard.run.history.changes import shown_value
from trainyard.run.history.committed import Committed

_CONFIG = "bootstrap/eksctl.yaml"
STACK, MODULE = "bootstrap/stack.yaml", "bootstrap/terraform/cluster/main.tf.json"
_HELP = (
    "undo the change, or make another cluster; if this one was never made, delete its folder here"
)


def moved_network(plan: Plan, committed: Committed) -> Iterator[Diagnostic]:
    """What the committed network is, and would no longer be."""
    cluster = plan.one(Cluster)
    if cluster is None:
        return
    if not committed.mentions(_CONFIG, ["ClusterConfig"]):
        return
    network = cluster.network
    named = network.vpc or network.cidr or ""
    if not committed.mentions(_CONFIG, [named]):
        vpc = value_at(committed.template(_CONFIG) or {}, "vpc")
        if isinstance(vpc, dict):
            yield from _other_vpc(vpc, network)
            return
    made = plan.one(MadeNetwork)
    if made is not None:
        yield from _other_blocks(made, committed)


def other_tool(plan: Plan, committed: Committed) -> Iterator[Diagnostic]:
    """Stacks that became modules, or modules that became stacks: what was made would be made a second time."""
    boot = plan.one(Bootstrap)
    if boot is None:
        return
    here, there = MODULE, STACK
    if boot.terraform is None:
        here, there = STACK, MODULE
    # Both are read, so that one that cannot be is reported; few clusters have the other one, and only then are they
    # parsed.
    present = [path for path in (here, there) if committed.text(path)]
    if there not in present:
        return
    if committed.template(here) is not None:
        return
    if committed.template(there) is None:
        return
    tools = {STACK: "CloudFormation", MODULE: "Terraform"}
    yield error(
        "CHG028",
        f"{tools[there]} made what this cluster needs of AWS, and {tools[here]} would make it again",
        boot.where("terraform"),
        label="names are taken, and networks and file systems would come twice",
        help=f"undo the change; or take over each resource by `import`, and delete `{there}` here then",
    )


def _other_vpc(old: Mapping[str, Any], network: Network) -> Iterator[Diagnostic]:
    """A VPC that was made may be named afterwards: which id it has is not known here."""
    before = str(old.get("id") or old.get("cidr"))
    was_made = before == VPC_ID or "id" not in old
    is_made = network.vpc in (VPC_ID, None)
    if was_made and not is_made:
        return
    after = network.vpc or network.cidr
    yield error(
        "CHG025",
        f"the VPC of the cluster cannot change: {_shown(before)} → {_shown(after)}",
        network.at,
        label="EKS keeps a cluster in its VPC",
        help=_HELP,
    )


def _shown(vpc: str | None) -> str:
    if vpc == VPC_ID:
        return "that of `bootstrap/network.yaml`"
    if vpc is not None and vpc.startswith("vpc-"):
        return f"`{vpc}`"
    return f"that which eksctl makes, `{vpc}`"


def _other_blocks(made: MadeNetwork, committed: Committed) -> Iterator[Diagnostic]:
    old = committed.template(PATH) or _as_stack(committed)
    if old is None:
        return
    stack = network_stack(made)
    resources = stack.body["Resources"]
    for name, before in mapping(old, "Resources").items():
        path = ("Resources", name, "Properties", "CidrBlock")
        kind = value_at(before, "Type")
        if kind not in ("AWS::EC2::VPC", "AWS::EC2::Subnet"):
            continue
        if name not in resources:
            yield error(
                "CHG025",
                f"`{name}` of `{PATH}` cannot be removed",
                made.at,
                label="the cluster, or what lies in it, uses it",
                help=_HELP,
            )
            continue
        block = value_at(old, *path)
        new = value_at(stack.body, *path)
        if block != new:
            edit = f"{shown_value(block)} → {shown_value(new)}"
            yield error(
                "CHG025",
                f"`CidrBlock` of `{name}` of `{PATH}` cannot change: {edit}",
                stack.origin(path),
                label="AWS would make another one",
                help=_HELP,
            )


_NETWORK = "bootstrap/terraform/network/main.tf.json"
_BLOCKS = {"aws_vpc": "AWS::EC2::VPC", "aws_subnet": "AWS::EC2::Subnet"}


def _as_stack(committed: Committed) -> dict[str, Any] | None:
    """The blocks of a committed module of the network, as a template has them."""
    module = committed.template(_NETWORK)
    if module is None:
        return None
    resources = {}
    for kind, type_name in _BLOCKS.items():
        for label, resource in mapping(module, "resource", kind).items():
            words = label.split("_")
            logical = "".join(word.capitalize() for word in words)
            properties = {"CidrBlock": value_at(resource, "cidr_block")}
            resources[logical] = {"Type": type_name, "Properties": properties}
    return {"Resources": resources}
