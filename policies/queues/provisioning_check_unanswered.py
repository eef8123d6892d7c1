from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pools.plan import Pool
from trainyard.eks.nodes.plan import NodePool
from trainyard.judge.model.values import mapping, value_at
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.places import Route
from trainyard.output.manifest import Manifest

_CONTROLLER = "kueue.x-k8s.io/provisioning-request"
_AUTOSCALER = "cluster-autoscaler"


@rule("QUE047", kinds=("kueue.x-k8s.io/AdmissionCheck",))
def provisioning_check_unanswered(manifest: Manifest, world: World) -> Iterator[Finding]:
    """Kueue asks by a ProvisioningRequest for nodes, and the cluster scales by Karpenter.

    ProvisioningRequests are answered by the Cluster Autoscaler alone (autoscaling.x-k8s.io; kueue v0.19.2, admission
    check controllers; kubernetes-sigs/karpenter#742): with Karpenter or EKS Auto Mode nobody answers, and workloads of
    the queue wait for ever. Nothing is reported where the set has a cluster autoscaler.

    ## Fails

        apiVersion: kueue.x-k8s.io/v1beta2
        kind: AdmissionCheck
        metadata: {name: nodes}
        spec: {controllerName: kueue.x-k8s.io/provisioning-request}

    ## Passes

        apiVersion: kueue.x-k8s.io/v1beta2
        kind: AdmissionCheck
        metadata: {name: nodes}
        spec: {controllerName: kueue.x-k8s.io/multikueue}
    """
    if value_at(manifest.body, "spec", "controllerName") != _CONTROLLER:
        return
    pools: tuple[Pool, ...] = world.pools
    if not any(isinstance(pool, NodePool) for pool in pools) or any(map(_scales, world.manifests)):
        return
    yield Finding(
        f"admission check `{manifest.ref.name}` asks by ProvisioningRequests, which Karpenter does not answer",
        Route((manifest.id, "spec", "controllerName")),
        label="workloads wait for it for ever",
        help="remove the check: only the Cluster Autoscaler answers it",
    )


def _scales(manifest: Manifest) -> bool:
    """Whether an object is or installs a cluster autoscaler."""
    spec = mapping(manifest.body, "spec")
    installed = [spec.get(field) for field in ("chart", "source", "sources")]
    return _AUTOSCALER in f"{manifest.ref.name} {installed}"
