from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from trainyard.core.storage.plan import VolumeClaim
from trainyard.eks.cluster.plan import Addon, Cluster
from trainyard.eks.flux.plan import HelmRelease
from trainyard.judge.model.reading import Reading
from trainyard.judge.model.storage import EBS, EFS, FSX
from trainyard.judge.model.values import tolerations, value_at
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.places import Route
from trainyard.plan.scheduling import Toleration, untolerated

_ALL = (Toleration("", "Exists"),)
_CRITICAL = (Toleration("CriticalAddonsOnly", "Exists"), Toleration("", "Exists", "", "NoExecute"))


class _Driver(NamedTuple):
    """The chart of a driver, and what its pods on nodes tolerate by default; ``switch``: that is everything."""

    chart: str
    switch: bool
    default: tuple[Toleration, ...]


# values.yaml of aws-mountpoint-s3-csi-driver 2.2.1, aws-fsx-csi-driver 1.16, aws-efs-csi-driver 4.3 and
# aws-ebs-csi-driver 2.63
_DRIVERS: Mapping[str, _Driver] = {
    "s3.csi.aws.com": _Driver("aws-mountpoint-s3-csi-driver", False, _CRITICAL),
    FSX: _Driver("aws-fsx-csi-driver", True, _ALL),
    EFS: _Driver("aws-efs-csi-driver", True, _ALL),
    EBS: _Driver("aws-ebs-csi-driver", True, _ALL),
}


@rule("HLT080", pods=True, kubernetes="CSI drivers are of Kubernetes")
def csi_driver_lacks_toleration(work: Work, world: World) -> Iterator[Finding]:
    """The driver of a volume does not tolerate the taint of the nodes where the job mounts it.

    A CSI driver mounts from a DaemonSet on the pod's own node. That of Mountpoint for S3 tolerates no taint of pools
    by default (aws-mountpoint-s3-csi-driver 2.2.1: `node.tolerateAllTaints: false`), while those of FSx, EFS and EBS
    tolerate all unless their values say otherwise: on a tainted node no driver runs, and the pods wait in
    ContainerCreating.

    ## Fails

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: s3, namespace: flux-system}
        spec: {chart: {spec: {chart: aws-mountpoint-s3-csi-driver, version: 2.2.1}}}
        ---
        apiVersion: v1
        kind: PersistentVolume
        metadata: {name: data}
        spec: {capacity: {storage: 1Ti}, accessModes: [ReadOnlyMany], storageClassName: "",
          claimRef: {namespace: team-a, name: data},
          csi: {driver: s3.csi.aws.com, volumeHandle: data, volumeAttributes: {bucketName: data}}}
        ---
        apiVersion: v1
        kind: PersistentVolumeClaim
        metadata: {name: data, namespace: team-a}
        spec: {accessModes: [ReadOnlyMany], volumeName: data, storageClassName: "",
          resources: {requests: {storage: 1Ti}}}
        ---
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: ClusterTrainingRuntime
        metadata: {name: torch-gpu-1}
        spec: {template: {spec: {replicatedJobs: [{name: node, template: {spec: {template: {spec: {
          volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]}}}}}]}}}

    ## Passes

        # as the first that fails, but
        kind: HelmRelease
        spec: {values: {node: {tolerateAllTaints: true}}}
    """
    for name in sorted(work.claims):
        claim = world.storage.claim(work.namespace, name)
        driver = _DRIVERS.get(_driver(claim, world)) if claim is not None else None
        if driver is None:
            continue
        for agent, at in _installed(driver.chart, world):
            reach = _reach(agent, driver)
            if reach is None:
                continue
            for pool in work.pools:
                left = untolerated(pool.taints, reach)
                if left:
                    yield Finding(
                        f"`{driver.chart}` does not tolerate `{left[0]}` of pool `{pool.title}`, "
                        f"where {work.title} mounts claim `{name}`",
                        at,
                        label="the mount hangs",
                        help="write `node: {tolerateAllTaints: true}`, or the toleration into `node.tolerations`",
                    )
                    return


def _driver(claim: VolumeClaim, world: Reading) -> str:
    return world.storage.driver(claim)


def _installed(chart: str, world: Reading) -> Iterator[tuple[HelmRelease | Addon, Route]]:
    for release in world.releases(chart):
        yield release, release.where("values" if release.values else "chart")
    cluster = world.plan.one(Cluster)
    for index, addon in enumerate(cluster.addons if cluster is not None else ()):
        if addon.name == chart and cluster is not None:
            yield addon, cluster.where("addons") / index


def _reach(agent: HelmRelease | Addon, driver: _Driver) -> tuple[Toleration, ...] | None:
    """What the driver's pods on nodes tolerate; ``None`` where that may be said elsewhere."""
    switch = value_at(agent.values, "node", "tolerateAllTaints")
    if switch is True:
        return _ALL
    given = tolerations(agent, "node", "tolerations")
    if given is None:
        return None
    if switch is None and driver.switch and not given:
        return driver.default
    return (*given, *(driver.default if not driver.switch else ()))
