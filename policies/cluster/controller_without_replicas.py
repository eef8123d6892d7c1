from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.eks.cluster.plan import Cluster
from trainyard.eks.flux.plan import HelmRelease
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.places import Route
from trainyard.plan import Plan

_CONTROLLERS = {
    "karpenter": ("", "launches nodes"),
    "kueue": ("controllerManager", "admits jobs"),
    "kubeflow-trainer": ("manager", "starts TrainJobs"),
    "jobset": ("controller", "makes the pods of jobs"),
    "kuberay-operator": ("", "starts RayJobs"),
    "external-secrets": ("", "makes Secrets"),
    "aws-fsx-csi-driver": ("controller", "makes volumes of FSx"),
    "coredns": ("", "answers DNS: no rank finds another"),
    "metrics-server": ("", "measures pods"),
    "aws-ebs-csi-driver": ("controller", "makes volumes of EBS"),
}
"""Where the values of each have its replicas, and what nobody does without."""
_KEYS = ("replicas", "replicaCount")


@rule("RUN137")
def controller_without_replicas(plan: Plan) -> Iterator[Finding]:
    """A controller that jobs need is set to no replicas.

    Flux and EKS report it as healthy: a Deployment of 0 has all replicas that it asks for. Then no node is launched, no
    job is admitted or no name is found, and every object stays as it is, without an error anywhere.

    ## Fails

        components: {kueue: {values: {controllerManager: {replicas: 0}}}}

        platform: {eks: {addons: {coredns: {values: {replicaCount: 0}}}}}

    ## Passes

        components: {kueue: {values: {controllerManager: {replicas: 1}}}}
    """
    for release in plan.of(HelmRelease):
        yield from _stopped(release.chart, release.values, release.where("values"))
    for cluster in plan.of(Cluster):
        place = cluster.where("addons")
        for index, addon in enumerate(cluster.addons):
            yield from _stopped(addon.name, addon.values, place / index)


def _stopped(name: str, values: Mapping[str, Any], at: Route) -> Iterator[Finding]:
    if name not in _CONTROLLERS:
        return
    folder, work = _CONTROLLERS[name]
    if folder:
        values = values.get(folder) or {}
        at = at / folder
    for key in _KEYS:
        if isinstance(values, Mapping) and values.get(key) == 0:
            yield Finding(
                f"`{name}` has no replicas, so nobody {work}",
                at / key,
                help="write 1 or more, or remove it",
            )
