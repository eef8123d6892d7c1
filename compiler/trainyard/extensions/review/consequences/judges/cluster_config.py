"""The ClusterConfig of eksctl, and those of single node groups: ``up.sh`` hands them to eksctl.

Sources: eksctl v0.230.0, ClusterConfig schema and pkg/actions/nodegroup; EKS user guide, update-cluster,
managed-node-update-behavior; EKS API, UpdateNodegroupConfig (by ``trainyard.run.history.groups``).
"""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.extensions.forecast.change import Action, Consequence, Effect
from trainyard.extensions.review.edits.edit import Edit
from trainyard.extensions.review.edits.judge import Judge
from trainyard.output.fields import Steps
from trainyard.run.history.groups import CHANGEABLE

_EKSCTL = "eksctl v0.230.0, ClusterConfig"
_EKS = "EKS user guide"
_UPDATE = "EKS API, UpdateNodegroupConfig"
_SIZE = Effect(Consequence.COST, "the number of nodes", _UPDATE)
_KEPT = Effect(
    Consequence.MOVES_JOBS, "nodes that run get it and stay: pods that wait go by it", _UPDATE
)
_OF_GROUPS = {
    **dict.fromkeys(("minSize", "maxSize", "desiredCapacity"), _SIZE),
    **dict.fromkeys(("labels", "taints"), _KEPT),
    "nodeRepairConfig": Effect(
        Consequence.REPLACES_NODES,
        "it decides when EKS repairs a node that fails; none is replaced by it",
        _UPDATE,
    ),
    "releaseVersion": Effect(
        Consequence.REPLACES_NODES,
        "EKS replaces the nodes of the group, and drains each",
        f"{_EKS}, managed-node-update-behavior",
    ),
}
"""What EKS changes of a group without making another."""
_ACCESS = frozenset({"iam", "accessConfig", "privateCluster"})
_ENDPOINT = frozenset({"clusterEndpoints", "publicAccessCIDRs"})


def _cluster(edit: Edit, steps: Steps) -> Effect | None:
    if edit.action is Action.ADDED:
        return Effect(Consequence.COST, "its control plane or nodes are paid once it is made", _EKS)
    if edit.action is Action.REMOVED:
        return Effect(
            Consequence.UNKNOWN,
            "nothing deletes what eksctl made of it before somebody does",
            _EKSCTL,
        )
    section = steps[0] if steps else ""
    if section == "managedNodeGroups":
        return _group(steps)
    if section == "metadata":
        return _metadata(steps)
    if section in _ACCESS or not _ENDPOINT.isdisjoint(steps):
        return Effect(Consequence.ACCESS, "it says who may reach or use the cluster", _EKSCTL)
    if section == "addons":
        if "podIdentityAssociations" in steps:
            return Effect(Consequence.ACCESS, "it says what an add-on may do in AWS", _EKSCTL)
        return Effect(Consequence.CONTROLLERS, "EKS updates the add-on: its pods restart", _EKS)
    if section == "cloudWatch":
        return Effect(Consequence.COST, "log lines that are kept are paid", _EKS)
    return None


def _metadata(steps: Steps) -> Effect | None:
    if steps[1:] == ("version",):
        return Effect(
            Consequence.CONTROLLERS,
            "EKS updates the control plane; nodes follow by their images, which are listed by themselves",
            f"{_EKS}, update-cluster",
        )
    if steps[1:2] == ("tags",):
        return Effect(Consequence.HARMLESS, "a tag changes nothing that runs", _EKSCTL)
    return None


def _group(steps: Steps) -> Effect | None:
    keys = steps[2:]
    if not keys:
        return Effect(Consequence.REPLACES_NODES, "a group of nodes comes or goes", _EKSCTL)
    key = str(keys[0])
    if key in CHANGEABLE:
        return _OF_GROUPS[key]
    return Effect(
        Consequence.REPLACES_NODES,
        "the group keeps it until it is made again, with other nodes",
        "eksctl v0.230.0, pkg/actions/nodegroup",
        replaces=True,
    )


KINDS: Mapping[str, Judge] = {"ClusterConfig.eksctl.io": _cluster}
