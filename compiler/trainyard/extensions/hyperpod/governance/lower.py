"""Lower: the requests of task governance, each a file of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.catalog.hyperpod import ml_name
from trainyard.extensions.hyperpod.governance.plan import (
    LEND_AND_BORROW,
    ClusterPolicy,
    ComputeQuota,
)
from trainyard.extensions.hyperpod.groups.names import FOLDER
from trainyard.output import Artifact
from trainyard.output.artifact import Places
from trainyard.output.lowering.body import fields_given
from trainyard.output.lowering.templates import tag_list
from trainyard.plan import Plan

CLUSTER = "${HYPERPOD_CLUSTER_ARN}"
"""The variable that stands for the ARN of the cluster, of which SageMaker makes up a part; ``up.sh`` puts it in."""


def lower(plan: Plan) -> Iterator[Artifact]:
    """The policy of the cluster, and the compute quotas: two teams that come never meet in a file."""
    policy = plan.one(ClusterPolicy)
    if policy is not None:
        yield _policy(policy)
    for quota in plan.of(ComputeQuota):
        yield _quota(quota)


def _policy(policy: ClusterPolicy) -> Artifact:
    weights = policy.priorities.items()
    body = fields_given(
        Name=policy.name,
        ClusterArn=CLUSTER,
        SchedulerConfig=fields_given(
            PriorityClasses=[{"Name": name, "Weight": weight} for name, weight in weights] or None,
            FairShare="Enabled" if policy.fair else "Disabled",
            # What is no queue's is nobody's, as in Kueue: spare nodes stay spare.
            IdleResourceSharing="Disabled",
        ),
        Tags=tag_list(policy.tags) or None,
    )
    places: Places = {
        ("SchedulerConfig", "PriorityClasses"): policy.where("priorities"),
        ("SchedulerConfig", "FairShare"): policy.where("fair"),
        ("Tags",): policy.where("tags"),
    }
    path = f"{FOLDER}/governance/cluster-policy.json"
    return Artifact(body, path, policy.at, places, format="hyperpod")


def _quota(quota: ComputeQuota) -> Artifact:
    sharing = fields_given(Strategy=quota.sharing)
    if quota.sharing == LEND_AND_BORROW:
        # Limits of the spec are in nodes; without one a team borrows all that is idle, in Kueue. SageMaker's own limit
        # is 50 percent of the team's nodes, and 500 percent is the most that it takes.
        if quota.borrowed:
            sharing["AbsoluteBorrowLimits"] = _resources(quota.borrowed)
        else:
            sharing["BorrowLimit"] = 500
    body = fields_given(
        Name=quota.name,
        ClusterArn=CLUSTER,
        ComputeQuotaConfig={
            "ComputeQuotaResources": _resources(quota.nodes),
            "ResourceSharingConfig": sharing,
            "PreemptTeamTasks": "LowerPriority" if quota.preempts else "Never",
        },
        ComputeQuotaTarget=fields_given(TeamName=quota.team, FairShareWeight=quota.weight),
        ActivationState="Enabled",
        Tags=tag_list(quota.tags) or None,
    )
    config = "ComputeQuotaConfig"
    places: Places = {
        (config, "ComputeQuotaResources"): quota.where("nodes"),
        (config, "ResourceSharingConfig"): quota.where("sharing"),
        (config, "ResourceSharingConfig", "AbsoluteBorrowLimits"): quota.where("borrowed"),
        (config, "PreemptTeamTasks"): quota.where("preempts"),
        ("ComputeQuotaTarget", "TeamName"): quota.where("team"),
        ("ComputeQuotaTarget", "FairShareWeight"): quota.where("weight"),
        ("Tags",): quota.where("tags"),
    }
    path = f"{FOLDER}/governance/quotas/{quota.team}.json"
    return Artifact(body, path, quota.at, places, format="hyperpod")


def _resources(nodes: Mapping[str, int]) -> list[dict[str, Any]]:
    return [{"InstanceType": ml_name(name), "Count": count} for name, count in nodes.items()]
