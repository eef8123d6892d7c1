"""Requests of HyperPod, which ``up.sh`` hands to SageMaker.

Source: SageMaker API, UpdateCluster, UpdateComputeQuota, UpdateClusterSchedulerConfig (botocore 1.44.5): instance
groups are given whole, and it does not say of each field what becomes of instances that run.
"""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.extensions.forecast.change import Action, Consequence, Effect
from trainyard.extensions.hyperpod.groups.names import FOLDER
from trainyard.extensions.review.edits.edit import Edit
from trainyard.extensions.review.edits.judge import Judge
from trainyard.output.fields import ABSENT, Steps

_API = "SageMaker API, UpdateCluster"
_QUOTA_API = "SageMaker API, UpdateComputeQuota and UpdateClusterSchedulerConfig"
_GOVERNANCE = f"{FOLDER}/governance/"
_QUOTAS = frozenset({"ComputeQuotaResources", "AbsoluteBorrowLimits", "BorrowLimit"})
_COUNTS = frozenset({"InstanceCount", "MinInstanceCount"})


def _request(edit: Edit, steps: Steps) -> Effect | None:
    if steps[:1] == ("Tags",):
        return Effect(Consequence.HARMLESS, "a tag changes nothing that runs", _API)
    if edit.thing.path.startswith(_GOVERNANCE):
        return _governance(edit, steps)
    pair = next((pair for pair in edit.fields if pair.steps == steps), None)
    if edit.action is Action.ADDED or (_is_group(steps) and pair and pair.found is ABSENT):
        return Effect(Consequence.COST, "its instances are bought once it is applied", _API)
    if edit.action is Action.REMOVED or (_is_group(steps) and pair and pair.wanted is ABSENT):
        return Effect(
            Consequence.UNKNOWN, "its instances stay until somebody deletes the group", _API
        )
    if not _COUNTS.isdisjoint(steps):
        return Effect(Consequence.COST, "the number of instances", _API)
    if "ExecutionRole" in steps:
        return Effect(Consequence.ACCESS, "nodes act as another role", _API)
    return Effect(
        Consequence.UNKNOWN, "the API does not say what becomes of instances that run", _API
    )


def _is_group(steps: Steps) -> bool:
    """Whether a path leads to a whole instance group."""
    return len(steps) == 2 and steps[0] == "InstanceGroups"


def _governance(edit: Edit, steps: Steps) -> Effect:
    """Compute quotas of teams, and the policy of the cluster, of which SageMaker makes Kueue's queues."""
    if not _QUOTAS.isdisjoint(steps):
        return Effect(Consequence.COST, "the quota of the team is another", _QUOTA_API)
    return Effect(Consequence.MOVES_JOBS, "SageMaker makes queues and priorities of it", _QUOTA_API)


KINDS: Mapping[str, Judge] = {"hyperpod": _request}
