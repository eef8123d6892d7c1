from __future__ import annotations

from collections.abc import Iterator

from trainyard.catalog import version_key
from trainyard.catalog.minors import unknown_fields
from trainyard.eks.cluster.plan import Cluster
from trainyard.judge.model.core_types import typed_parts
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.places import Route


@rule("HLT029")
def field_of_later_kubernetes(cluster: Cluster, world: World) -> Iterator[Finding]:
    """A pod or a claim has a field that the Kubernetes version of its cluster does not have, or has off on EKS.

    Objects are verified by the schemas of the newest version. An older API server refuses a field that it does not know
    in what Flux applies, and drops it in what a controller makes of a template; a field whose feature gate is off is
    dropped in silence: a container that is to be restarted on one exit code is then restarted on all. Which version
    has which field is read from the defaults of feature gates (k8s.io/kubernetes v1.36.3,
    pkg/features/kube_features.go); EKS has no alpha features on (EKS user guide, kubernetes-versions).

    ## Fails

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.34"}
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: a}
        spec:
          containers:
          - name: main
            image: a:1
            restartPolicyRules: [{action: Restart, exitCodes: {operator: In, values: [42]}}]

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.36"}
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: a}
        spec:
          containers: [{name: main, image: "a:1", lifecycle: {stopSignal: SIGUSR1}}]

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.33"}
        ---
        apiVersion: v1
        kind: PersistentVolumeClaim
        metadata: {name: a}
        spec:
          accessModes: [ReadWriteOnce]
          volumeAttributesClassName: fast
          resources: {requests: {storage: 1Gi}}

    ## Passes

        # as the first that fails, but
        kind: ClusterConfig
        metadata: {version: "1.35"}

        apiVersion: v1
        kind: Pod
        metadata: {name: of-a-cluster-that-is-not-known}
        spec:
          containers: [{name: main, image: "a:1", lifecycle: {stopSignal: SIGUSR1}}]
    """
    if not version_key(cluster.kubernetes):
        return
    unknown = unknown_fields(world.catalog.newest_release.minors, cluster.kubernetes)
    for manifest in world.manifests:
        for name, path, part in typed_parts(manifest):
            fields = unknown.get(name, {})
            for field in fields.keys() & part.keys():
                at = Route((manifest.id, *path, field))
                yield _finding(field, fields[field], at, cluster.kubernetes)


def _finding(field: str, since: str, at: Route, version: str) -> Finding:
    if version_key(since):
        fact = f"`{field}` is of Kubernetes {since} and later, and this cluster has {version}"
        help = f"remove it, or upgrade to Kubernetes {since}"
    else:
        fact = f"`{field}` has no effect: the feature gate `{since}` is off on EKS"
        help = "remove it"
    return Finding(fact, at, key=True, help=help)
