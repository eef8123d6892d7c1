from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pools.plan import Pool
from trainyard.judge.model.agents import Agent, agents
from trainyard.judge.model.beside import in_one_folder
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.plan import Plan


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

        # as the second that fails, but
        kind: DaemonSet
        spec:
          template: {spec: {nodeSelector: {node.kubernetes.io/instance-type: m7i.xlarge}, tolerations: null}}
    """
    for agent in agents(world.releases("alloy"), world.manifests):
        for pool, taint in world.kept_off(agent.tolerations):
            if _is_for(agent, pool, world) and in_one_folder(agent.at, pool.at):
                yield Finding(
                    f"{agent.title} does not tolerate `{taint}` of pool `{pool.title}`",
                    agent.at,
                    label="it never runs there",
                    help=f"add the taint to `{agent.field}`",
                )
                break


def _is_for(agent: Agent, pool: Pool, world: World) -> bool:
    """Whether an agent is meant for the nodes of a pool, as far as the set says."""
    if not world.accelerated(pool):
        return False
    types = world.types(pool)
    has_gpus = bool(types) and all(instance.gpus for instance in types)
    if agent.gpus_only and not has_gpus:
        return False
    return world.may_match(pool, agent.selector)
