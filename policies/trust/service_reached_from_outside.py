from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.eks.cluster.plan import Cluster
from trainyard.judge.model.values import mapping, value_at
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.language.places import Route
from trainyard.output.manifest import Manifest

_SCHEME = "service.beta.kubernetes.io/aws-load-balancer-scheme"
_INTERNAL = "service.beta.kubernetes.io/aws-load-balancer-internal"


@rule("ACC052", severity=Severity.WARNING, kinds=("/Service",))
def service_reached_from_outside(manifest: Manifest, world: World) -> Iterator[Finding]:
    """A Service that the spec includes is reached from outside the cluster, or leads out of it.

    A load balancer of the cloud provider has public addresses unless it is annotated, one of the AWS Load Balancer
    Controller or of EKS Auto Mode only with `internet-facing` (AWS Load Balancer Controller since 2.2.0, network
    load balancer; EKS user guide, auto-configure-nlb). A node port is open on every node, those of other teams too.
    An address in `externalIPs` takes what the whole cluster sends to that address (CVE-2020-8554), and
    `ExternalName` has a name of the cluster answered by another host: what programs send there, with their tokens,
    goes to whoever has it. Services of Trainyard have no address outside. In third-party manifests a Service is
    what its author wants, and is not judged.

    ## Fails

        # a whole cluster
        apiVersion: v1
        kind: Service
        metadata: {name: board, namespace: team-a}
        spec: {type: LoadBalancer, selector: {app: board}, ports: [{port: 80}]}

        # a whole cluster
        apiVersion: v1
        kind: Service
        metadata: {name: board, namespace: team-a}
        spec: {type: NodePort, selector: {app: board}, ports: [{port: 80}]}

        # as the first that fails, but
        kind: Service
        metadata: {annotations: {service.beta.kubernetes.io/aws-load-balancer-scheme: internet-facing}}
        spec: {loadBalancerClass: service.k8s.aws/nlb}

        # a whole cluster
        apiVersion: v1
        kind: Service
        metadata: {name: mirror, namespace: team-a}
        spec: {type: ExternalName, externalName: mirror.example.com}

        # a whole cluster
        apiVersion: v1
        kind: Service
        metadata: {name: board, namespace: team-a}
        spec: {externalIPs: [203.0.113.7], selector: {app: board}, ports: [{port: 443}]}

    ## Passes

        # a whole cluster
        apiVersion: v1
        kind: Service
        metadata: {name: board, namespace: team-a}
        spec: {selector: {app: board}, ports: [{port: 80}]}

        # a whole cluster
        apiVersion: v1
        kind: Service
        metadata:
          name: board
          namespace: team-a
          annotations: {service.beta.kubernetes.io/aws-load-balancer-scheme: internal}
        spec: {type: LoadBalancer, selector: {app: board}, ports: [{port: 80}]}

        # as the first that fails, but
        kind: Service
        spec: {loadBalancerSourceRanges: [203.0.113.0/24]}

        # a whole cluster
        apiVersion: v1
        kind: Service
        metadata: {name: board, namespace: team-a}
        spec: {type: ExternalName, externalName: board.monitoring.svc.cluster.local}
    """
    if not world.plan.closed:
        return
    kind = value_at(manifest.body, "spec", "type")
    spec = Route((manifest.id, "spec"))
    title = f"`{manifest.ref.name}`"
    if kind == "LoadBalancer" and _is_public(manifest.body, world):
        yield Finding(
            f"{title} asks for a load balancer, and does not say that it is internal",
            spec / "type",
            label="has public addresses, and lets everybody in",
            help=f"annotate it with `{_SCHEME}: internal`, name who may under `loadBalancerSourceRanges`, or leave the "
            "type out and use `kubectl port-forward`",
        )
    if kind == "NodePort":
        yield Finding(
            f"{title} opens a port on every node of the cluster",
            spec / "type",
            help="leave the type out: pods reach it by its name, and people by `kubectl port-forward`",
        )
    host = value_at(manifest.body, "spec", "externalName")
    if kind == "ExternalName" and not str(host).rstrip(".").endswith(".cluster.local"):
        yield Finding(
            f"{title} has a name of the cluster answered by `{host}`",
            spec / "externalName",
            label="what programs send there leaves the cluster",
            help="write that host where it is used, so that its reviewers see it",
        )
    addresses = value_at(manifest.body, "spec", "externalIPs")
    if isinstance(addresses, list) and addresses:
        yield Finding(
            f"{title} takes what the cluster sends to `{addresses[0]}`",
            spec / "externalIPs" / 0,
            label="whoever makes such a Service reads what is for that address",
            help="remove `externalIPs`",
        )


def _is_public(body: Any, world: World) -> bool:
    """Whether a load balancer has public addresses, and lets everybody in."""
    annotations = mapping(body, "metadata", "annotations")
    scheme = annotations.get(_SCHEME)
    said_internal = str(annotations.get(_INTERNAL, "false")).lower() not in ("false", "")
    cluster = world.plan.one(Cluster)
    by_default_internal = cluster is not None and bool(cluster.auto_mode)
    if value_at(body, "spec", "loadBalancerClass") is not None:
        by_default_internal = True
    if scheme == "internal" or said_internal:
        return False
    if by_default_internal and scheme != "internet-facing":
        return False
    ranges = value_at(body, "spec", "loadBalancerSourceRanges")
    if not isinstance(ranges, list) or not ranges:
        return True
    return "0.0.0.0/0" in ranges or "::/0" in ranges
