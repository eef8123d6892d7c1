"""Clusters of ParallelCluster: their configuration, which ``up.sh`` hands to pcluster, and their batch jobs.

Source: aws-parallelcluster 3.16.1, cluster_schema.py and update_policy.py, with ``QueueUpdateStrategy: DRAIN``, which
Trainyard writes; which policy a key has is in the derived structure. ``jobs.sh`` submits what is new and cancels what
goes (``compiler/trainyard/extensions/parallelcluster/history.py``).
"""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.extensions.forecast.change import Action, Consequence, Effect
from trainyard.extensions.parallelcluster.formats.parallelcluster.structure import updates
from trainyard.extensions.review.edits.edit import Edit
from trainyard.extensions.review.edits.judge import Judge
from trainyard.output.fields import ABSENT, Pair, Steps

_SOURCE = "aws-parallelcluster 3.16.1, update_policy.py"
_JOBS = "`jobs.sh`"
_ACCESS = frozenset({"Iam", "Ssh", "S3Access", "AllowedIps"})
_STOPS = ("COMPUTE_FLEET_STOP", "COMPUTE_AND_LOGIN_NODES_STOP")
_ON_REMOVE = ("COMPUTE_FLEET_STOP_ON_REMOVE", "RESIZE_UPDATE_STRATEGY_ON_REMOVE")
_DRAINS = ("QUEUE_UPDATE_STRATEGY", "MANAGED_PLACEMENT_GROUP", "MANAGED_FSX")
_LOGINS = ("LOGIN_NODES_POOL_STOP", "LOGIN_NODES_STOP", "LOGIN_NODES_POOLS_UPDATE_POLICY")
_STOPPED = Effect(
    Consequence.ENDS_JOBS, "pcluster changes it only while no compute node runs", _SOURCE
)
_PAID = Effect(Consequence.COST, "other or more nodes may be bought", _SOURCE)


def _configuration(edit: Edit, steps: Steps) -> Effect | None:
    if edit.action is not Action.CHANGED:
        return None
    if not _ACCESS.isdisjoint(steps):
        return Effect(Consequence.ACCESS, "it says who may log in, or what nodes may do", _SOURCE)
    pair = next((pair for pair in edit.fields if pair.steps == steps), None)
    if pair is not None and pair.wanted is ABSENT and steps[0] == "SharedStorage":
        return _STOPPED
    return _by_policy(_policy(steps), grows=pair is not None and _grows(pair))


def _policy(steps: Steps) -> str:
    """How ParallelCluster takes the change of a key, or of the nearest one above it that it knows."""
    keys = [step if isinstance(step, str) else "[]" for step in steps]
    known = updates()
    for end in range(len(keys), 0, -1):
        policy = known.get(".".join(keys[:end]))
        if policy is not None:
            return policy
    return ""


def _grows(pair: Pair) -> bool:
    """Whether nothing that was there is changed or taken away."""
    if pair.found is ABSENT:
        return True
    both = isinstance(pair.found, int) and isinstance(pair.wanted, int)
    return both and pair.wanted >= pair.found


def _by_policy(policy: str, *, grows: bool) -> Effect | None:
    if policy == "UNSUPPORTED":
        return Effect(
            Consequence.ENDS_JOBS,
            "pcluster never changes it: only another cluster has another value",
            _SOURCE,
            replaces=True,
        )
    if policy in _STOPS or (policy in _ON_REMOVE and not grows):
        return _STOPPED
    if policy in _ON_REMOVE:
        return _PAID
    if policy in _LOGINS:
        return Effect(
            Consequence.REPLACES_NODES, "pcluster changes it only while no login node runs", _SOURCE
        )
    if policy in _DRAINS:
        return Effect(
            Consequence.REPLACES_NODES, "each node is replaced when its job is over", _SOURCE
        )
    if policy == "IGNORED":
        return Effect(Consequence.HARMLESS, "pcluster ignores it in an update", _SOURCE)
    if policy == "SUPPORTED":
        return Effect(
            Consequence.UNKNOWN, "pcluster changes it while nodes run, whatever follows", _SOURCE
        )
    return None


def _batch(edit: Edit, steps: Steps) -> Effect | None:
    if edit.action is Action.ADDED:
        return Effect(Consequence.MOVES_JOBS, f"{_JOBS} submits it")
    if edit.action is Action.REMOVED:
        return Effect(Consequence.ENDS_JOBS, f"{_JOBS} cancels it if it waits or runs")
    return Effect(
        Consequence.ENDS_JOBS, f"{_JOBS} cancels the run that was submitted, and submits another"
    )


KINDS: Mapping[str, Judge] = {"parallelcluster": _configuration, "sbatch": _batch}
