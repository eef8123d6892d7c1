from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date, timedelta

from trainyard.catalog import hyperpod
from trainyard.catalog.minors import Minor, beside, support_of
from trainyard.catalog.prices import MONTH, service
from trainyard.core.cloud.plan import ControlPlane
from trainyard.eks.jobs.plan import TrainJob
from trainyard.extensions.hyperpod.cluster.plan import HyperPodCluster
from trainyard.judge.model.worded import worded
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.language.diagnostics.words import numbered


@rule("HLT024", severity=Severity.WARNING, params={"days": 30})
def kubernetes_out_of_support(cluster: ControlPlane, world: World) -> Iterator[Finding]:
    """The Kubernetes version of a cluster is out of standard support, or will be within a number of days.

    EKS then charges $0.60 instead of $0.10 an hour for the control plane (AWS containers blog, extended support
    pricing, 2024), and upgrades it by itself at the end of extended support (EKS user guide, Kubernetes versions).
    Versions that no release of Trainyard has are judged by the calendar of EKS (kubernetes-versions at 10ac1b44), and
    all that are older than those in it have left extended support. Newer ones are not judged, nor is the newest that
    HyperPod takes in a cluster of its nodes, or its training operator in one with its jobs: there is no other yet.

    ## Fails

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.32"}

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.29"}

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.21"}

        # params: {days: 100000}
        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.36"}

        Resources:
          Lab:
            Type: AWS::EKS::Cluster
            Properties:
              Version: "1.29"
              RoleArn: "arn:aws:iam::111122223333:role/eks"
              ResourcesVpcConfig:
                {SubnetIds: [subnet-0a1b2c3d], EndpointPublicAccess: false, EndpointPrivateAccess: true}

    ## Passes

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.36"}

        # params: {days: 1}
        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.36"}
    """
    dates = support_of(cluster.kubernetes, world.catalog.newest_release.minors)
    if dates is None:
        return
    if world.plan.of(HyperPodCluster) and cluster.kubernetes == _newest_of_hyperpod(world):
        return
    if not dates:
        yield _finding(cluster, world, "left extended support", _UPGRADED)
        return
    standard, extended = (
        date.fromisoformat(dates[support]) for support in ("standard", "extended")
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
    yield _finding(cluster, world, said, _cost(world.today, standard, extended))


def _finding(cluster: ControlPlane, world: World, said: str, label: str) -> Finding:
    minors = world.catalog.newest_release.minors
    help = ""
    if label == _UPGRADED:
        help = _way_back(cluster, minors, world.today, int(world.param("days")))
    return Finding(
        f"Kubernetes {cluster.kubernetes} {said}",
        cluster.where("kubernetes"),
        label=label,
        help=help or _next_step(cluster, minors),
    )


def _written(cluster: ControlPlane, version: str) -> str:
    """A version as the tool of the cluster has it."""
    if not cluster.logical:
        return f'`version: "{version}"`'
    return worded(cluster, f'`Version: "{version}"`', f'`version = "{version}"`')


def _next_step(cluster: ControlPlane, minors: Mapping[str, Minor]) -> str:
    version = beside(cluster.kubernetes, 1)
    minor = minors.get(version)
    if minor is None or not minor.support_ends:
        return f"the next step is Kubernetes {version}: take it when a release of Trainyard has it"
    written = _written(cluster, version)
    return f"write {written} as the next step: EKS takes one minor version at a time"


def _way_back(cluster: ControlPlane, minors: Mapping[str, Minor], today: date, days: int) -> str:
    """What to write for a version that EKS runs no more: it takes clusters to the oldest that it supports, and makes no
    new one before that (EKS user guide, kubernetes-versions at 10ac1b44, extended support FAQs)."""
    oldest = _first(minors, "extended", today)
    lasting = _first(minors, "standard", today + timedelta(days=days))
    if not oldest:
        return ""
    written = _written(cluster, oldest)
    if oldest == lasting or not lasting:
        return f"write {written}, the oldest that EKS supports"
    return (
        f"write {written}, to which EKS takes such a cluster, then go to {lasting}, "
        "one minor version at a time"
    )


def _first(minors: Mapping[str, Minor], support: str, today: date) -> str:
    """The oldest version that has a kind of support on a day; empty where it ended for all that are known."""
    for version, minor in minors.items():
        ends = minor.support_ends.get(support)
        if ends and today < date.fromisoformat(ends):
            return version
    return ""


def _newest_of_hyperpod(world: World) -> str:
    """The newest version that HyperPod takes, and its training operator where a job needs that."""
    if any(job.kind == "HyperPodPyTorchJob" for job in world.plan.of(TrainJob)):
        return hyperpod.operated_kubernetes()[-1]
    return hyperpod.kubernetes()[-1]


_UPGRADED = "EKS upgrades it by itself, on a day of its own choice"


def _cost(today: date, standard: date, extended: date) -> str:
    if today >= extended:
        return _UPGRADED
    more = service("eks extended support hour", "us-east-1")
    assert more is not None
    price = f"${more.usd:.2f} an hour more (${more.usd * MONTH:.0f} a month)"
    if today < standard:
        return f"{price} from then on"
    return f"{price} until {extended}, when EKS upgrades it by itself"
