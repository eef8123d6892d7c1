from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.eks.teams.plan import Namespace
from trainyard.judge.model.bodies import body_at
from trainyard.judge.model.values import mapping
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.places import Route

_ISTIO, _REVISION = "istio-injection", "istio.io/rev"
_OF_POD = "sidecar.istio.io/inject"
_LINKERD = "linkerd.io/inject"
_ON, _OFF = ("enabled", "true", "ingress"), ("disabled", "false")
_OTHERS = {
    "kuma.io/sidecar-injection": "Kuma",
    "appmesh.k8s.aws/sidecarInjectorWebhook": "App Mesh",
}
"""Meshes whose one key, a label or an annotation of pods, also switches a whole namespace on (Kuma 2.12 and
AWS App Mesh 1.13, their injectors)."""


@rule("EFA049", pods=True, kubernetes="service meshes put their proxies into pods")
def sidecar_in_gang(work: Work, world: World) -> Iterator[Finding]:
    """A service mesh puts its proxy into the pods of a job whose nodes talk to each other.

    The proxy takes all connections of the pod: rendezvous, NCCL and Gloo speak protocols of their own on ports that
    no Service has, and mutual TLS breaks them; and a proxy that is no native sidecar runs on after the program, so
    that the pod never ends (Istio 1.30, sidecar injection; Linkerd, proxy injection). The label of the namespace
    switches it on for all of its pods.

    ## Fails

        apiVersion: v1
        kind: Namespace
        metadata: {name: team-a, labels: {istio-injection: enabled}}

        apiVersion: v1
        kind: Namespace
        metadata: {name: team-a, labels: {istio.io/rev: stable}}

        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: ClusterTrainingRuntime
        metadata: {name: torch-gpu-1}
        spec: {template: {spec: {replicatedJobs: [{name: node, template: {spec: {template: {
          metadata: {annotations: {linkerd.io/inject: enabled}}}}}}]}}}

        apiVersion: v1
        kind: Namespace
        metadata: {name: team-a, labels: {kuma.io/sidecar-injection: enabled}}

    ## Passes

        apiVersion: v1
        kind: Namespace
        metadata: {name: team-a, labels: {istio-injection: enabled}}
        ---
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: ClusterTrainingRuntime
        metadata: {name: torch-gpu-1}
        spec: {template: {spec: {replicatedJobs: [{name: node, template: {spec: {template: {
          metadata: {labels: {sidecar.istio.io/inject: "false"}}}}}}]}}}
    """
    if not work.gang or work.pod is None or work.pod.host_network:
        return
    pod = work.pod
    own = {**pod.annotations, **pod.labels}
    if own.get(_OF_POD) in _ON:
        field = "labels" if _OF_POD in pod.labels else "annotations"
        yield _finding(
            work, pod.where(field) / _OF_POD, "Istio", f'`{_OF_POD}: "false"` as a label'
        )
        return
    if own.get(_LINKERD) in _ON:
        field = "labels" if _LINKERD in pod.labels else "annotations"
        yield _finding(work, pod.where(field) / _LINKERD, "Linkerd", f"`{_LINKERD}: disabled`")
        return
    for key, mesh in _OTHERS.items():
        if own.get(key) in _ON:
            field = "labels" if key in pod.labels else "annotations"
            yield _finding(work, pod.where(field) / key, mesh, f"`{key}: disabled`")
            return
    namespace = world.plan.named(Namespace, work.namespace)
    if namespace is None:
        return
    at = namespace.at / "metadata" / "labels"
    key = _istio(namespace.labels)
    if key and own.get(_OF_POD) not in _OFF:
        yield _finding(work, at / key, "Istio", f'`{_OF_POD}: "false"` as a label')
    annotations = _annotations(namespace, world)
    if annotations.get(_LINKERD) in _ON and own.get(_LINKERD) not in _OFF:
        place = namespace.at / "metadata" / "annotations" / _LINKERD
        yield _finding(work, place, "Linkerd", f"the annotation `{_LINKERD}: disabled`")
    for key, mesh in _OTHERS.items():
        if namespace.labels.get(key) in _ON and own.get(key) not in _OFF:
            yield _finding(work, at / key, mesh, f"`{key}: disabled`")


def _istio(labels: Mapping[str, str]) -> str:
    """The label by which a namespace gets Istio's sidecars; empty without one."""
    switch = labels.get(_ISTIO)
    if switch in _ON:
        return _ISTIO
    if switch is None and labels.get(_REVISION):
        return _REVISION
    return ""


def _annotations(namespace: Namespace, world: World) -> Mapping[str, str]:
    return mapping(body_at(world, namespace.at), "metadata", "annotations")


def _finding(work: Work, at: Route, mesh: str, off: str) -> Finding:
    return Finding(
        f"a proxy of {mesh} is put into the pods of {work.title}, whose nodes talk to each other",
        at,
        label="the rendezvous breaks, and the pods may never end",
        help=f"give the pods of the job {off}",
    )
