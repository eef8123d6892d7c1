from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.judge.model.values import indexed, mappings_at, value_at
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.language.places import Route
from trainyard.output.manifest import Manifest

_KIND = ("networking.k8s.io", "NetworkPolicy")


@rule("ACC046", severity=Severity.WARNING, kinds=("networking.k8s.io/NetworkPolicy",))
def network_policy_undone(manifest: Manifest, world: World) -> Iterator[Finding]:
    """A NetworkPolicy lets everybody reach all pods of a namespace, so that the other policies there mean nothing.

    Policies add up: what one of them lets in, no other keeps out (Kubernetes, NetworkPolicy). The port of a rendezvous
    takes pickled objects from whoever reaches it (PyTorch, security policy: distributed).

    ## Fails

        apiVersion: networking.k8s.io/v1
        kind: NetworkPolicy
        metadata: {name: default-deny, namespace: team-a}
        spec: {podSelector: {}, policyTypes: [Ingress]}
        ---
        apiVersion: networking.k8s.io/v1
        kind: NetworkPolicy
        metadata: {name: debugging, namespace: team-a}
        spec: {podSelector: {}, policyTypes: [Ingress], ingress: [{}]}

        patches: [{target: {kind: NetworkPolicy}, patch: [{op: add, path: /spec/ingress/-, value: {}}]}]

    ## Passes

        apiVersion: networking.k8s.io/v1
        kind: NetworkPolicy
        metadata: {name: default-deny, namespace: team-a}
        spec: {podSelector: {}, policyTypes: [Ingress]}
        ---
        apiVersion: networking.k8s.io/v1
        kind: NetworkPolicy
        metadata: {name: metrics, namespace: team-a}
        spec: {podSelector: {}, policyTypes: [Ingress], ingress: [{ports: [{port: 9100}]}]}

        apiVersion: networking.k8s.io/v1
        kind: NetworkPolicy
        metadata: {name: the-only-one, namespace: team-a}
        spec: {podSelector: {}, policyTypes: [Ingress], ingress: [{}]}
    """
    opened = _open_rule(manifest)
    if opened is None:
        return
    restricts = [name for name in _others(manifest, world) if name]
    patched = world.plan.closed and not manifest.key
    if restricts or patched:
        others = f", although `{restricts[0]}` does not" if restricts else ""
        pods = "pods of its namespace"
        if manifest.ref.namespace:
            pods = f"pods of `{manifest.ref.namespace}`"
        yield Finding(
            f"`{manifest.ref.name}` lets everybody reach all {pods}{others}",
            Route((manifest.id, "spec", "ingress", opened)),
            help="name under `from:` who is let in, or the `ports:`",
            spec_help="remove the patch or the included file, or let fewer in",
        )


def _open_rule(manifest: Manifest) -> int | None:
    """The first rule that lets everybody reach every port of every pod."""
    if value_at(manifest.body, "spec", "podSelector"):
        return None
    for index, allowed in indexed(manifest.body, "spec", "ingress"):
        peers = allowed.get("from")
        if not allowed.get("ports") and (not peers or _is_everybody(peers)):
            return index
    return None


def _is_everybody(peers: Any) -> bool:
    return any(
        value_at(peer, "ipBlock", "cidr") == "0.0.0.0/0" and not value_at(peer, "ipBlock", "except")
        for peer in mappings_at(peers)
    )


def _others(manifest: Manifest, world: World) -> Iterator[str]:
    """The names of other policies that restrict what reaches pods of the same namespace."""
    for other in world.manifests:
        is_policy = (other.ref.group, other.ref.kind) == _KIND
        if not is_policy or other.ref.namespace != manifest.ref.namespace:
            continue
        if other.id != manifest.id and _open_rule(other) is None:
            yield other.ref.name
