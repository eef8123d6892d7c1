from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from compiler.catalog import version_key
from compiler.catalog.minors import unknown_fields
from compiler.manifest import Manifest
from compiler.output.body import follow
from compiler.policy.rule import Finding, rule
from compiler.policy.world import World
from compiler.source import Key, Route
from compiler.subjects.cluster.plan import Cluster
from compiler.verify.references import RUNTIME_PODS, pod_specs


@rule("HLT200")
def field_of_later_kubernetes(
    cluster: Cluster,
    world: World,
) -> Iterator[Finding]:
    """A pod has a field that the Kubernetes version of its cluster does not know.

    The API server drops a field that it does not know, in silence when Flux or a controller applies it: a container
    that is to be restarted on one exit code is then restarted on all, or none. Which version has which field: the
    feature gates that are on by default (k8s.io/kubernetes v1.36.3, pkg/features/kube_features.go).

    ## Fails

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.30"}
        ---
        apiVersion: v1
        kind: Pod
        spec:
          containers:
          - name: main
            restartPolicyRules: [{action: Restart, exitCodes: {operator: In, values: [42]}}]

    ## Passes

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.35"}
        ---
        apiVersion: v1
        kind: Pod
        spec:
          containers:
          - name: main
            restartPolicyRules: [{action: Restart, exitCodes: {operator: In, values: [42]}}]
    """
    minors = world.catalog.newest_release.minors
    if not version_key(cluster.kubernetes):
        return
    unknown = unknown_fields(minors, cluster.kubernetes)
    for manifest in world.manifests:
        for path, spec in _pods(manifest):
            for place, first in _unknown(spec, unknown):
                yield Finding(
                    f"Kubernetes {cluster.kubernetes} knows no `{place[-1]}`",
                    Route((manifest.id, *path, *place)),
                    key=True,
                    help=f"remove it, or upgrade to Kubernetes {first}",
                )


_CONTAINERS = ("containers", "initContainers")
_WHERE: dict[str, tuple[tuple[str, ...], ...]] = {
    "PodSpec": ((),),
    "Container": tuple((part, "*") for part in _CONTAINERS),
    "EnvVarSource": tuple((part, "*", "env", "*", "valueFrom") for part in _CONTAINERS),
    "Volume": (("volumes", "*"),),
}


def _pods(manifest: Manifest) -> Iterator[tuple[tuple[Key, ...], Any]]:
    yield from pod_specs(manifest.body)
    if manifest.ref.kind == "ClusterTrainingRuntime":
        yield from follow(manifest.body, RUNTIME_PODS)


def _unknown(
    spec: Any, unknown: Mapping[str, Mapping[str, str]]
) -> Iterator[tuple[tuple[Key, ...], str]]:
    for name, fields in unknown.items():
        for where in _WHERE[name]:
            for path, part in follow(spec, where):
                if isinstance(part, dict):
                    for each in sorted(fields.keys() & part.keys()):
                        yield (*path, each), fields[each]
