from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from compiler.core.images.plan import repository_of
from compiler.core.pools.plan import Pool
from compiler.dataclass import dataclass
from compiler.diagnostics import Severity
from compiler.manifest import Manifest
from compiler.model.beside import in_one_folder
from compiler.model.values import items, mapping, read_tolerations, tolerations, value
from compiler.places import Route
from compiler.plan import Plan
from compiler.plan.scheduling import Toleration, untolerated
from compiler.policy.rule import Finding, rule
from compiler.policy.world import World


@rule("HLT065", severity=Severity.WARNING)
def agent_lacks_toleration(plan: Plan, world: World) -> Iterator[Finding]:
    """An agent of logs or metrics does not tolerate the taint of a pool with accelerators.

    A DaemonSet runs on a tainted node only with the toleration (Kubernetes, taints and tolerations): of the nodes that
    train there are no logs and no series. The chart of Alloy has no toleration by default (alloy 1.11.1,
    `controller.tolerations`). DaemonSets are known by the images of their containers: Alloy, Promtail, Fluent Bit,
    Fluentd, Vector, the CloudWatch agent, node-exporter, dcgm-exporter. Releases of dcgm-exporter are HLT062.

    ## Fails

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: alloy, namespace: flux-system}
        spec: {chart: {spec: {chart: alloy, version: 1.11.1}}}

        apiVersion: apps/v1
        kind: DaemonSet
        metadata: {name: fluent-bit, namespace: logging}
        spec:
          selector: {matchLabels: {app: fluent-bit}}
          template:
            metadata: {labels: {app: fluent-bit}}
            spec:
              tolerations: [{key: node-role.kubernetes.io/control-plane, operator: Exists, effect: NoSchedule}]
              containers: [{name: fluent-bit, image: public.ecr.aws/aws-observability/aws-for-fluent-bit:2.34.0}]

        apiVersion: apps/v1
        kind: DaemonSet
        metadata: {name: dcgm-exporter, namespace: monitoring}
        spec:
          selector: {matchLabels: {app: dcgm-exporter}}
          template:
            metadata: {labels: {app: dcgm-exporter}}
            spec:
              nodeSelector: {node.kubernetes.io/instance-type: p4d.24xlarge}
              containers: [{name: exporter, image: nvcr.io/nvidia/k8s/dcgm-exporter:4.5.2-4.8.1-ubi9}]

    ## Passes

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: alloy, namespace: flux-system}
        spec:
          chart: {spec: {chart: alloy, version: 1.11.1}}
          values: {controller: {tolerations: [{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}]}}

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: alloy, namespace: flux-system}
        spec:
          chart: {spec: {chart: alloy, version: 1.11.1}}
          values: {controller: {type: deployment}}

        apiVersion: apps/v1
        kind: DaemonSet
        metadata: {name: fluent-bit, namespace: logging}
        spec:
          selector: {matchLabels: {app: fluent-bit}}
          template:
            metadata: {labels: {app: fluent-bit}}
            spec:
              tolerations: [{operator: Exists}]
              containers: [{name: fluent-bit, image: public.ecr.aws/aws-observability/aws-for-fluent-bit:2.34.0}]

        apiVersion: apps/v1
        kind: DaemonSet
        metadata: {name: fluent-bit, namespace: logging}
        spec:
          selector: {matchLabels: {app: fluent-bit}}
          template:
            metadata: {labels: {app: fluent-bit}}
            spec:
              nodeSelector: {node.kubernetes.io/instance-type: m7i.xlarge}
              containers: [{name: fluent-bit, image: public.ecr.aws/aws-observability/aws-for-fluent-bit:2.34.0}]
    """
    pools = [pool for pool in world.pools if world.accelerated(pool)]
    for agent in (*_of_releases(world), *_of_daemon_sets(world)):
        for pool in pools:
            left = untolerated(pool.taints, agent.tolerations)
            if left and _is_for(agent, pool, world) and in_one_folder(agent.at, pool.at):
                yield Finding(
                    f"{agent.title} does not tolerate `{left[0]}` of pool `{pool.title}`",
                    agent.at,
                    label="it never runs there",
                    help=f"add the taint to `{agent.field}`",
                )
                break


@dataclass(frozen=True, slots=True)
class Agent:
    """Pods on each node that has the labels of ``selector``. ``field`` is where their tolerations are written."""

    title: str
    at: Route
    field: str
    tolerations: tuple[Toleration, ...]
    selector: Mapping[str, str]
    gpus_only: bool = False


def _is_for(agent: Agent, pool: Pool, world: World) -> bool:
    """Whether an agent is meant for the nodes of a pool, as far as the set says."""
    if agent.gpus_only and not all(instance.gpus for instance in world.types(pool)):
        return False
    return world.may_match(pool, agent.selector)


def _of_releases(world: World) -> Iterator[Agent]:
    for release in world.releases("alloy"):
        controller = mapping(release.values, "controller")
        reach = tolerations(release, "controller", "tolerations")
        is_daemon_set = controller.get("type", "daemonset") == "daemonset"
        if is_daemon_set and reach is not None and not controller.get("affinity"):
            yield Agent(
                f"release `{release.name}`",
                release.where("values"),
                "controller.tolerations",
                reach,
                mapping(controller, "nodeSelector"),
            )


def _of_daemon_sets(world: World) -> Iterator[Agent]:
    for manifest in world.manifests:
        if manifest.ref.kind == "DaemonSet" and manifest.ref.group == "apps":
            yield from _of_daemon_set(manifest)


def _of_daemon_set(manifest: Manifest) -> Iterator[Agent]:
    pod = mapping(manifest.body, "spec", "template", "spec")
    names = {_name(container.get("image")) for container in items(pod, "containers")}
    if not names & _IMAGES or value(pod, "affinity", "nodeAffinity"):
        return
    at = Route((manifest.id, "spec", "template", "spec"))
    yield Agent(
        f"the DaemonSet `{manifest.ref.name}`",
        at / "tolerations" if pod.get("tolerations") else at,
        "tolerations",
        read_tolerations(pod.get("tolerations")),
        mapping(pod, "nodeSelector"),
        gpus_only=names & _IMAGES == {_DCGM},
    )


def _name(image: Any) -> str:
    """The last part of an image's name: ``fluent-bit``."""
    return repository_of(str(image)).rpartition("/")[2]


_DCGM = "dcgm-exporter"
_IMAGES = frozenset(
    {
        _DCGM,
        "alloy",
        "aws-for-fluent-bit",
        "cloudwatch-agent",
        "fluent-bit",
        "fluentd",
        "fluentd-kubernetes-daemonset",
        "node-exporter",
        "promtail",
        "vector",
    }
)
