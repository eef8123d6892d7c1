from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from trainyard.judge.model.beside import in_one_folder
from trainyard.judge.model.listeners import CHARTS, Listener, listeners
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.plan import Plan
from trainyard.plan.scheduling import Toleration


@rule("HLT064", severity=Severity.WARNING)
def host_port_taken_twice(plan: Plan, world: World) -> Iterator[Finding]:
    """Two DaemonSets listen on one port of the same nodes.

    A port of a node is given to one pod (Kubernetes, scheduler plugin NodePorts): the second pod stays Pending on
    every node that has the first. With `hostNetwork` each `containerPort` is a port of the node. The node-exporter of
    the charts kube-prometheus-stack (88.5.3), prometheus (29.27.0) and prometheus-node-exporter (4.56.1) listens on
    port 9100 of the node by default. Judged are pairs that certainly share nodes: both run on every node without
    taints, or one selects and tolerates at least what the other does.

    ## Fails

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: node-exporter, namespace: flux-system}
        spec: {chart: {spec: {chart: prometheus-node-exporter, version: 4.56.1}}}
        ---
        apiVersion: apps/v1
        kind: DaemonSet
        metadata: {name: node-metrics, namespace: monitoring}
        spec:
          selector: {matchLabels: {app: node-metrics}}
          template:
            metadata: {labels: {app: node-metrics}}
            spec:
              hostNetwork: true
              containers:
                - {name: exporter, image: quay.io/prometheus/node-exporter:v1.12.1, ports: [{containerPort: 9100}]}
              tolerations: [{operator: Exists}]

        apiVersion: apps/v1
        kind: DaemonSet
        metadata: {name: gpu-metrics, namespace: monitoring}
        spec:
          selector: {matchLabels: {app: gpu-metrics}}
          template:
            metadata: {labels: {app: gpu-metrics}}
            spec:
              containers: [{name: exporter, image: team/exporter:v1, ports: [{containerPort: 9400, hostPort: 9400}]}]
        ---
        apiVersion: apps/v1
        kind: DaemonSet
        metadata: {name: efa-metrics, namespace: monitoring}
        spec:
          selector: {matchLabels: {app: efa-metrics}}
          template:
            metadata: {labels: {app: efa-metrics}}
            spec:
              containers: [{name: exporter, image: team/exporter:v1, ports: [{containerPort: 80, hostPort: 9400}]}]

    ## Passes

        # as the first that fails, but
        kind: HelmRelease
        spec: {values: {service: {port: 9101}}}

        apiVersion: apps/v1
        kind: DaemonSet
        metadata: {name: gpu-metrics, namespace: monitoring}
        spec:
          selector: {matchLabels: {app: gpu-metrics}}
          template:
            metadata: {labels: {app: gpu-metrics}}
            spec:
              nodeSelector: {node.kubernetes.io/instance-type: p5.48xlarge}
              containers: [{name: exporter, image: team/exporter:v1, ports: [{containerPort: 9400, hostPort: 9400}]}]
        ---
        apiVersion: apps/v1
        kind: DaemonSet
        metadata: {name: other-gpu-metrics, namespace: monitoring}
        spec:
          selector: {matchLabels: {app: other-gpu-metrics}}
          template:
            metadata: {labels: {app: other-gpu-metrics}}
            spec:
              nodeSelector: {node.kubernetes.io/instance-type: p4d.24xlarge}
              containers: [{name: exporter, image: team/exporter:v1, ports: [{containerPort: 9400, hostPort: 9400}]}]
    """
    for first, second in combinations(listeners(world.releases(*CHARTS), world.manifests), 2):
        is_same = first.at[:1] == second.at[:1]
        # Of third-party files, objects of one name may be one in several environments.
        if is_same or (first.owner == second.owner and not plan.closed):
            continue
        meet = first.port.meets(second.port) and _share_nodes(first, second)
        if meet and in_one_folder(first.at, second.at):
            yield Finding(
                f"{second.owner} listens on port {second.port.number} of its nodes, as {first.owner} does",
                second.at,
                label="its pods stay Pending beside those of the other",
                help="remove one of them, or give it another port or other nodes",
                also=((first.at, "the other"),),
            )


def _share_nodes(first: Listener, second: Listener) -> bool:
    if first.is_on_all_nodes and second.is_on_all_nodes:
        return True
    return _covers(first, second) or _covers(second, first)


def _covers(wide: Listener, narrow: Listener) -> bool:
    """Whether one runs on all nodes on which the other runs."""
    if not wide.selector.items() <= narrow.selector.items():
        return False
    if wide.affinity and wide.affinity != narrow.affinity:
        return False
    return _EVERYTHING in wide.tolerations or set(narrow.tolerations) <= set(wide.tolerations)


_EVERYTHING = Toleration("", "Exists")
