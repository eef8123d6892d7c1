"""What becomes of the jobs of HyperPod when something fails: as on EKS, but for who replaces nodes."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.extensions.forecast.eks.failures.cluster import components_of, leaves, upgrades
from trainyard.extensions.forecast.eks.failures.gpus import xids
from trainyard.extensions.forecast.eks.failures.nodes import node_lost, zone_lost
from trainyard.extensions.forecast.eks.failures.repairing import Repairing
from trainyard.extensions.forecast.failures.footing import Footing, times
from trainyard.extensions.forecast.failures.outcome import Outcome
from trainyard.extensions.forecast.failures.parts import Part
from trainyard.extensions.forecast.planned import PlannedCluster
from trainyard.extensions.hyperpod.cluster.plan import HyperPodCluster
from trainyard.extensions.hyperpod.groups.plan import InstanceGroup
from trainyard.extensions.hyperpod.jobs.resuming import AUTO_RESUME, MOST_RETRIES

_SOURCE = "SageMaker developer guide, sagemaker-hyperpod-eks-resiliency"
_OPERATOR, _CHART = "training-operator", "hyperpod-helm-chart"

__all__ = ["outcomes"]


def outcomes(planned: PlannedCluster, job: Footing) -> Iterator[Outcome]:
    """The outcome of each failure of a job, in the order of ``Failure``. HyperPod has no Capacity Blocks."""
    repair = _repairing(planned, job)
    yield node_lost(planned, job, repair)
    yield from xids(planned, job, repair)
    yield zone_lost(planned, job, repair)
    yield leaves(job)
    # HyperPod's chart brings the training operator.
    components = [_CHART if name == _OPERATOR else name for name in components_of(planned, job)]
    yield from upgrades(planned, job, components)


def _repairing(planned: PlannedCluster, job: Footing) -> Repairing:
    """HyperPod's agent watches nodes. AWS publishes no time until a node is replaced, and none for its tests."""
    cluster = planned.plan.one(HyperPodCluster)
    watcher = "HyperPod's health-monitoring agent labels the node"
    if cluster is None or cluster.recovery != "Automatic":
        why = "HyperPod leaves the node (`nodeRecovery: None`): `aws sagemaker batch-replace-cluster-nodes`"
        return Repairing(source=_SOURCE, watcher=watcher, why=why)
    why = "HyperPod reboots or replaces the node: how soon AWS does not publish"
    checks = tuple(_checks(planned, job.gang.pool))
    return Repairing(
        who="HyperPod",
        source=_SOURCE,
        watcher=watcher,
        why=why,
        checks=checks,
        resumes=_resumes(job),
    )


def _checks(planned: PlannedCluster, pool: str) -> Iterator[Part]:
    """The deep health checks that new nodes of a group must pass."""
    for group in planned.plan.of(InstanceGroup):
        if group.name == pool and group.checks:
            why = (
                f"{', '.join(group.checks)} of a new node: how long they take AWS does not publish"
            )
            yield Part("deep health checks", 0, None, why)


def _resumes(job: Footing) -> str:
    """How often HyperPod starts a job again, where it does."""
    annotations = job.gang.annotations
    if annotations.get(AUTO_RESUME) != "true":
        return ""
    most = annotations.get(MOST_RETRIES, "")
    often = times(int(most)) if most.isdecimal() else "as often as it takes"
    return f"HyperPod starts the job again after that, {often}"
