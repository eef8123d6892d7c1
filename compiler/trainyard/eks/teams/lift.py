"""Lift: namespaces, ResourceQuotas, service accounts, RBAC, NetworkPolicies, PriorityClasses, disruption budgets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from trainyard.eks.delivery.plan import DisruptionBudget
from trainyard.eks.rbac.plan import Access, PolicyRule, ServiceAccount, Subject
from trainyard.eks.teams.plan import (
    Namespace,
    NetworkPolicy,
    NetworkRule,
    Peer,
    PodPriority,
    ResourceQuota,
)
from trainyard.language.dataclass import dataclass
from trainyard.lift.reader import Reader, labels_of, name_of, namespace_of, pruned
from trainyard.plan.base import PlanItem


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding(PlanItem):
    """A binding on its way to its role."""

    name: str
    namespace: str
    role: str
    subjects: tuple[Subject, ...]


def namespace(body: Reader) -> Iterator[PlanItem]:
    """Namespace."""
    yield Namespace(at=body.at, name=name_of(body), labels=labels_of(body), prune=pruned(body))


def resource_quota(body: Reader) -> Iterator[PlanItem]:
    """ResourceQuota."""
    spec = body / "spec"
    hard = spec / "hard"
    yield ResourceQuota(
        at=body.at,
        name=name_of(body),
        namespace=namespace_of(body),
        hard=hard.quantities(),
        origins={"hard": hard.at},
        scoped=bool(spec / "scopes") or bool(spec / "scopeSelector"),
    )


def service_account(body: Reader) -> Iterator[PlanItem]:
    """ServiceAccount."""
    automount = (body / "automountServiceAccountToken").flag()
    yield ServiceAccount(
        at=body.at,
        name=name_of(body),
        namespace=namespace_of(body),
        automount=automount is not False,
        prune=pruned(body),
    )


def role(body: Reader) -> Iterator[PlanItem]:
    """Role or ClusterRole; its subjects come with the binding."""
    rules = [
        PolicyRule(
            groups=(rule / "apiGroups").texts(),
            resources=(rule / "resources").texts(),
            verbs=(rule / "verbs").texts(),
            names=(rule / "resourceNames").texts(),
        )
        for rule in (body / "rules").items()
    ]
    yield Access(
        at=body.at,
        name=name_of(body),
        namespace=namespace_of(body),
        rules=tuple(rules),
        subjects=(),
        prune=pruned(body),
    )


def binding(body: Reader) -> Iterator[PlanItem]:
    """RoleBinding or ClusterRoleBinding."""
    subjects = tuple(
        Subject(
            (subject / "kind").word(), (subject / "name").word(), (subject / "namespace").word()
        )
        for subject in (body / "subjects").items()
    )
    yield Binding(
        at=body.at,
        name=name_of(body),
        namespace=namespace_of(body),
        role=body.follow("roleRef", "name").word(),
        subjects=subjects,
    )


def join(nodes: Sequence[PlanItem]) -> list[PlanItem]:
    """Each role with the subjects of the binding of its name."""
    bindings = {}
    for node in nodes:
        if isinstance(node, Binding):
            bindings[node.namespace, node.role] = node
    joined: list[PlanItem] = []
    for node in nodes:
        if isinstance(node, Binding):
            continue
        if isinstance(node, Access):
            bound = bindings.get((node.namespace, node.name))
            if bound is not None:
                node = replace(node, subjects=bound.subjects)
        joined.append(node)
    return joined


def network_policy(body: Reader) -> Iterator[PlanItem]:
    """NetworkPolicy over all pods.

    Without `policyTypes` it is about what comes in, and about what goes out where it has a rule of that (Kubernetes
    1.36, networking.k8s.io/v1 NetworkPolicySpec).
    """
    spec = body / "spec"
    types = (spec / "policyTypes").texts()
    if not types:
        types = ("Ingress", "Egress") if (spec / "egress").value else ("Ingress",)
    ingress = None
    if "Ingress" in types:
        ingress = _rules(spec / "ingress", "from")
    egress = None
    if "Egress" in types:
        egress = _rules(spec / "egress", "to")
    yield NetworkPolicy(
        at=body.at, name=name_of(body), namespace=namespace_of(body), ingress=ingress, egress=egress
    )


def _rules(rules: Reader, direction: str) -> tuple[NetworkRule, ...]:
    return tuple(_rule(rule, direction) for rule in rules.items())


def _rule(body: Reader, direction: str) -> NetworkRule:
    ports = []
    for port in (body / "ports").items():
        protocol = (port / "protocol").word()
        number = (port / "port").integer() or 0
        ports.append((protocol, number))
    listed = (body / direction).items()
    peers = [_peer(peer) for peer in listed]
    return NetworkRule(peers=tuple(peers), ports=tuple(ports))


def _peer(body: Reader) -> Peer:
    block = body / "ipBlock"
    if block:
        cidr = (block / "cidr").text()
        return Peer(cidr=cidr, excluded=(block / "except").texts())
    return Peer(namespaces=_labels(body / "namespaceSelector"), pods=_labels(body / "podSelector"))


def _labels(selector: Reader) -> dict[str, str] | None:
    if selector:
        return (selector / "matchLabels").strings()
    return None


def priority_class(body: Reader) -> Iterator[PlanItem]:
    """PriorityClass."""
    value = (body / "value").integer()
    if value is not None:
        yield PodPriority(
            at=body.at,
            name=name_of(body),
            value=value,
            description=(body / "description").word(),
            preempts=(body / "preemptionPolicy").value != "Never",
        )


def disruption_budget(body: Reader) -> Iterator[PlanItem]:
    """PodDisruptionBudget of a number of pods; shares and what may be missing are left out."""
    spec = body / "spec"
    available = (spec / "minAvailable").integer()
    pods = spec.follow("selector", "matchLabels").strings()
    if available is not None and pods:
        yield DisruptionBudget(
            at=body.at,
            name=name_of(body),
            namespace=namespace_of(body),
            pods=pods,
            available=available,
        )


_RBAC = "rbac.authorization.k8s.io"
KINDS = {
    "/Namespace": namespace,
    "/ResourceQuota": resource_quota,
    "/ServiceAccount": service_account,
    f"{_RBAC}/Role": role,
    f"{_RBAC}/ClusterRole": role,
    f"{_RBAC}/RoleBinding": binding,
    f"{_RBAC}/ClusterRoleBinding": binding,
    "networking.k8s.io/NetworkPolicy": network_policy,
    "scheduling.k8s.io/PriorityClass": priority_class,
    "policy/PodDisruptionBudget": disruption_budget,
}
