from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from trainyard.judge.model.reading import Reading
from trainyard.judge.model.values import mapping, mappings_at, texts_at, value_at
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.places import Route
from trainyard.output.manifest import Manifest, placeholder

_NAME = "kubernetes.io/metadata.name"


@rule("EFA050", pods=True, kubernetes="network policies are of Kubernetes")
def policy_divides_gang(work: Work, world: World) -> Iterator[Finding]:
    """Network policies keep the pods of a job from each other.

    A policy that selects a pod lets in, or out, only what it or another policy for that pod allows (Kubernetes 1.36,
    network policies). Rendezvous and NCCL's bootstrap connect the pods of a job on TCP ports, also where EFA carries
    the data: behind a policy that denies everything they never meet, unless another lets them through, and without
    DNS they do not find each other. The port of the rendezvous alone is not enough: NCCL and Gloo listen on any that
    is free (NCCL 2.30, bootstrap). Labels that an operator gives to the pods count as selected.

    ## Fails

        apiVersion: networking.k8s.io/v1
        kind: NetworkPolicy
        metadata: {name: default-deny, namespace: team-a}
        spec: {podSelector: {}, policyTypes: [Ingress, Egress]}

        apiVersion: networking.k8s.io/v1
        kind: NetworkPolicy
        metadata: {name: from-gateway, namespace: team-a}
        spec: {podSelector: {}, ingress: [{from: [{namespaceSelector: {matchLabels: {
          kubernetes.io/metadata.name: gateway}}}]}]}

        apiVersion: networking.k8s.io/v1
        kind: NetworkPolicy
        metadata: {name: rendezvous, namespace: team-a}
        spec: {podSelector: {}, ingress: [{from: [{podSelector: {}}], ports: [{port: 29500, protocol: TCP}]}]}

        apiVersion: networking.k8s.io/v1
        kind: NetworkPolicy
        metadata: {name: of-trainers, namespace: team-a}
        spec: {podSelector: {}, ingress: [{from: [{podSelector: {matchLabels: {trains: all}}}]}]}

    ## Passes

        apiVersion: networking.k8s.io/v1
        kind: NetworkPolicy
        metadata: {name: default-deny, namespace: team-a}
        spec: {podSelector: {}, policyTypes: [Ingress, Egress]}
        ---
        apiVersion: networking.k8s.io/v1
        kind: NetworkPolicy
        metadata: {name: among-themselves, namespace: team-a}
        spec:
          podSelector: {}
          policyTypes: [Ingress, Egress]
          ingress: [{from: [{podSelector: {}}]}]
          egress: [{to: [{podSelector: {}}]}, {ports: [{port: 53, protocol: UDP}]}]
    """
    if not work.gang or work.pod is None or work.pod.host_network:
        return
    policies = [one for one in world.once(_policies) if one.namespace == work.namespace]
    if not policies:
        return
    labels = work.pod.labels
    for field, peers in (("ingress", "from"), ("egress", "to")):
        of_pod = [one for one in policies if one.holds(field) and _may(one.selector, labels)]
        certain = [one for one in of_pod if _certain(one.selector, labels)]
        if not certain:
            continue
        rules = [each for one in of_pod for each in mappings_at(one.body, "spec", field)]
        if not any(_among(each, peers, work, world) for each in rules):
            verb = "reach" if field == "egress" else "be reached by"
            yield Finding(
                f"pods of {work.title} may not {verb} each other: "
                f"network policy `{certain[0].name}` and no other allows it",
                certain[0].at / "spec",
                label="the rendezvous never succeeds",
                help="add a policy that allows traffic among the pods of the job, on all ports, and DNS",
            )
            return
        if field == "egress" and not any(_asks_names(each) for each in rules):
            yield Finding(
                f"pods of {work.title} may not ask for names: no network policy of theirs allows DNS",
                certain[0].at / "spec",
                label="they do not find the first of them",
                help="allow port 53, UDP and TCP, to `kube-dns` in `kube-system`",
            )
            return


class _Policy(NamedTuple):
    name: str
    namespace: str
    body: Any
    at: Route

    @property
    def selector(self) -> Mapping[str, Any]:
        return mapping(self.body, "spec", "podSelector")

    def holds(self, field: str) -> bool:
        """Whether it is about a direction: egress only where it says so, ingress unless it says otherwise."""
        types = texts_at(self.body, "spec", "policyTypes")
        if types:
            return field.capitalize() in types
        return field == "ingress" or value_at(self.body, "spec", "egress") is not None


def _policies(world: Reading) -> tuple[_Policy, ...]:
    return tuple(map(_policy, filter(_is_policy, world.manifests)))


def _is_policy(manifest: Manifest) -> bool:
    return manifest.ref.kind == "NetworkPolicy" and manifest.ref.group == "networking.k8s.io"


def _policy(manifest: Manifest) -> _Policy:
    ref = manifest.ref
    return _Policy(ref.name, ref.namespace or "", manifest.body, Route((manifest.id,)))


def _certain(selector: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """Whether a selector is known to select pods with at least these labels."""
    if selector.get("matchExpressions"):
        return False
    return all(labels.get(key) == text for key, text in mapping(selector, "matchLabels").items())


def _may(selector: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """Whether it may: labels that the template does not have may come from an operator, with its domain before them."""
    wanted = mapping(selector, "matchLabels")
    return all(
        labels[key] == text if key in labels else "/" in key or key in _OF_OPERATORS
        for key, text in wanted.items()
    )


_OF_OPERATORS = (
    *("job-name", "controller-uid"),
    *("group-name", "replica-type", "replica-index", "job-role", "mpi-job-name", "mpi-role-type"),
)
"""Labels without a domain that controllers give to pods, or older operators did (batch/v1; mpi-operator and
training-operator before v1.5)."""


def _among(each: Mapping[str, Any], field: str, work: Work, world: Reading) -> bool:
    """Whether a rule may let the pods of a job through to each other, on more than names."""
    ports = each.get("ports")
    if isinstance(ports, list) and ports and not any(_is_wide(port) for port in ports):
        return False
    peers = each.get(field)
    if not isinstance(peers, list) or not peers:
        return True
    return any(_is_peer(peer, work, world) for peer in peers if isinstance(peer, dict))


def _is_peer(peer: Mapping[str, Any], work: Work, world: Reading) -> bool:
    if peer.get("ipBlock"):
        return True  # it may hold the addresses of pods
    spaces = peer.get("namespaceSelector")
    if isinstance(spaces, Mapping):
        named = mapping(spaces, "matchLabels").get(_NAME)
        if named is not None and named != work.namespace:
            return False
    assert work.pod is not None
    return _may(mapping(peer, "podSelector"), work.pod.labels)


def _asks_names(each: Mapping[str, Any]) -> bool:
    ports: Sequence[Any] = each.get("ports") or ()
    return not ports or any(_of_names(port) or "endPort" in port for port in ports)


def _is_wide(port: Any) -> bool:
    """Whether it lets through more than the ports that somebody named: NCCL and Gloo take those that are free."""
    if not isinstance(port, Mapping):
        return True
    first, last = port.get("port"), port.get("endPort")
    if first is None:
        return True
    if isinstance(first, int) and isinstance(last, int):
        return last - first >= _SOME
    return placeholder(str(first))


_SOME = 1000


def _of_names(port: Any) -> bool:
    return isinstance(port, Mapping) and port.get("port") in (53, "dns", "dns-tcp", 9153)
