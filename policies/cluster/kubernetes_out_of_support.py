from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from compiler.catalog import hyperpod
from compiler.catalog.minors import Minor
from compiler.catalog.prices import MONTH, service
from compiler.diagnostics import Severity
from compiler.diagnostics.words import numbered
from compiler.platforms.eks.cluster.plan import Cluster
from compiler.platforms.eks.jobs.plan import TrainJob
from compiler.platforms.hyperpod.cluster.plan import HyperPodCluster
from compiler.policy.rule import Finding, rule
from compiler.policy.world import World


@rule("HLT024", severity=Severity.WARNING, params={"days": 30})
def kubernetes_out_of_support(cluster: Cluster, world: World) -> Iterator[Finding]:
    """The Kubernetes version of a cluster is out of standard support, or will be within a number of days.

    EKS then charges $0.60 instead of $0.10 an hour for the control plane (AWS containers blog, extended support
    pricing, 2024), and upgrades it by itself at the end of extended support (EKS user guide, Kubernetes versions).
    Versions whose dates are not known are not judged, nor is the newest that HyperPod takes in a cluster of its nodes,
    or its training operator in one with its jobs: there is no other yet.

    ## Fails

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.32"}

        # params: {days: 100000}
        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.36"}

    ## Passes

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.36"}

        # params: {days: 1}
        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.36"}
    """
    minors = world.catalog.newest_release.minors
    minor = minors.get(cluster.kubernetes)
    if minor is None or not minor.support_ends:
        return
    if world.plan.of(HyperPodCluster) and cluster.kubernetes == _newest_of_hyperpod(world):
        return
    standard, extended = (
        date.fromisoformat(minor.support_ends[support]) for support in ("standard", "extended")
    )
    left = (standard - world.today).days
    if left > world.param("days"):
        return
    if left > 0:
        said = f"leaves standard support on {standard}, in {numbered(left, 'day')}"
    elif world.today < extended:
        said = f"left standard support on {standard}"
    else:
        said = f"left extended support on {extended}"
    yield Finding(
        f"Kubernetes {cluster.kubernetes} {said}",
        cluster.where("kubernetes"),
        label=_cost(world.today, standard, extended),
        help=_next_step(minor.after, minors.get(minor.after)),
    )


def _next_step(version: str, minor: Minor | None) -> str:
    if minor is None or not minor.support_ends:
        return f"the next step is Kubernetes {version}: take it when a release of Trainyard has it"
    return f'write `version: "{version}"` as the next step: EKS takes one minor version at a time'


def _newest_of_hyperpod(world: World) -> str:
    """The newest version that HyperPod takes, and its training operator where a job needs that."""
    if any(job.kind == "HyperPodPyTorchJob" for job in world.plan.of(TrainJob)):
        return hyperpod.operated_kubernetes()[-1]
    return hyperpod.kubernetes()[-1]


def _cost(today: date, standard: date, extended: date) -> str:
    if today >= extended:
        return "EKS upgrades it by itself, on a day of its own choice"
    more = service("eks extended support hour", "us-east-1")
    assert more is not None
    price = f"${more.usd:.2f} an hour more (${more.usd * MONTH:.0f} a month)"
    if today < standard:
        return f"{price} from then on"
    return f"{price} until {extended}, when EKS upgrades it by itself"
