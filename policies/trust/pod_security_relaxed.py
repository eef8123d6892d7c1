from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.kueue.plan import LocalQueue
from trainyard.eks.overrides.plan import ObjectPatch
from trainyard.judge.model.values import value_at
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.language.places import Route
from trainyard.output.manifest import Manifest

_ENFORCED = "pod-security.kubernetes.io/enforce"


@rule("ACC045", kinds=("/Namespace",))
def pod_security_relaxed(manifest: Manifest, world: World) -> Iterator[Finding]:
    """A namespace in which teams start jobs lets privileged pods in.

    With `pod-security.kubernetes.io/enforce: privileged` nothing about a pod is refused: who may create a job there
    mounts the file system of the node, and is root on it (Kubernetes, Pod Security Standards). Training needs no more
    than `baseline`, EFA included.

    ## Fails

        apiVersion: v1
        kind: Namespace
        metadata: {name: team-a, labels: {pod-security.kubernetes.io/enforce: privileged}}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: gpu, namespace: team-a}
        spec: {clusterQueue: gpu}

        patches: [{target: {kind: Namespace, name: team-a}, patch: {metadata: {labels: {
          pod-security.kubernetes.io/enforce: privileged}}}}]

    ## Passes

        apiVersion: v1
        kind: Namespace
        metadata: {name: team-a, labels: {pod-security.kubernetes.io/enforce: baseline}}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: gpu, namespace: team-a}
        spec: {clusterQueue: gpu}

        apiVersion: v1
        kind: Namespace
        metadata: {name: monitoring, labels: {pod-security.kubernetes.io/enforce: privileged}}
    """
    if value_at(manifest.body, "metadata", "labels", _ENFORCED) != "privileged":
        return
    patches = world.plan.of(ObjectPatch)
    patched = any(patch.kind == "Namespace" for patch in patches)
    if world.plan.closed and not (manifest.key or patched):
        return  # `podSecurity` of the spec says it openly
    name = manifest.ref.name
    if any(queue.namespace == name for queue in world.plan.of(LocalQueue)):
        yield Finding(
            f"namespace `{name}`, where jobs are queued, lets privileged pods in",
            Route((manifest.id, "metadata", "labels", _ENFORCED)),
            label="who may start a job there is root on its node",
            help="write `baseline`, and run what needs more in a namespace of its own",
            spec_help="remove the patch; a namespace that needs it says `podSecurity: privileged` under `namespaces:`",
            severity=None if world.plan.closed else Severity.WARNING,
        )
