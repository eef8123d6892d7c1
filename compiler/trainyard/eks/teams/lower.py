"""Lower: namespaces, ResourceQuotas, service accounts, RBAC, NetworkPolicies, PriorityClasses, disruption budgets."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.delivery.plan import DisruptionBudget
from trainyard.eks.rbac.plan import Access, ServiceAccount, Subject
from trainyard.eks.teams.plan import (
    Namespace,
    NetworkPolicy,
    NetworkRule,
    Peer,
    PodPriority,
    ResourceQuota,
)
from trainyard.output.artifact import Places
from trainyard.output.lowering.body import (
    NO_PRUNE,
    fields_given,
    manifest_in,
    object_head,
    quantities,
)
from trainyard.output.manifest import Body, Manifest
from trainyard.plan import Plan

FOLDER = "platform"
RBAC = "rbac.authorization.k8s.io/v1"


def lower(plan: Plan) -> Iterator[Manifest]:
    """Everything around the jobs of each namespace."""
    for namespace in plan.of(Namespace):
        body = object_head(
            "v1",
            "Namespace",
            namespace.name,
            labels=namespace.labels,
            annotations=None if namespace.prune else NO_PRUNE,
        )
        yield manifest_in(FOLDER, body, namespace.at)
    for quota in plan.of(ResourceQuota):
        body = {
            **object_head("v1", "ResourceQuota", quota.name, quota.namespace),
            "spec": {"hard": quantities(quota.hard)},
        }
        places: Places = {("spec", "hard", key): quota.where(f"hard.{key}") for key in quota.hard}
        yield manifest_in(FOLDER, body, quota.at, places)
    for account in plan.of(ServiceAccount):
        body = {
            **object_head(
                "v1",
                "ServiceAccount",
                account.name,
                account.namespace,
                annotations=None if account.prune else NO_PRUNE,
            ),
            "automountServiceAccountToken": account.automount,
        }
        yield manifest_in(account.folder, body, account.at)
    for access in plan.of(Access):
        for body in access_bodies(access):
            yield manifest_in(access.folder, body, access.at)
    for policy in plan.of(NetworkPolicy):
        yield manifest_in(FOLDER, network_policy(policy), policy.at)
    for priority in plan.of(PodPriority):
        yield manifest_in(FOLDER, priority_class(priority), priority.at)
    for budget in plan.of(DisruptionBudget):
        yield manifest_in(FOLDER, disruption_budget(budget), budget.at)


def access_bodies(access: Access) -> tuple[Body, Body]:
    """A Role and its RoleBinding, or a ClusterRole and its ClusterRoleBinding."""
    prefix = "" if access.namespace else "Cluster"
    stays = None if access.prune else NO_PRUNE
    rules = [
        {
            "apiGroups": list(rule.groups),
            "resources": list(rule.resources),
            **fields_given(resourceNames=list(rule.names)),
            "verbs": list(rule.verbs),
        }
        for rule in access.rules
    ]
    named = (access.name, access.namespace)
    role = {**object_head(RBAC, f"{prefix}Role", *named, annotations=stays), "rules": rules}
    binding = {
        **object_head(RBAC, f"{prefix}RoleBinding", *named, annotations=stays),
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": f"{prefix}Role",
            "name": access.name,
        },
        "subjects": [_subject(subject) for subject in access.subjects],
    }
    return role, binding


def _subject(subject: Subject) -> Body:
    group = "rbac.authorization.k8s.io" if subject.kind != "ServiceAccount" else None
    return fields_given(
        kind=subject.kind, apiGroup=group, name=subject.name, namespace=subject.namespace
    )


def network_policy(policy: NetworkPolicy) -> Body:
    """NetworkPolicy over every pod of its namespace."""
    assert policy.ingress is not None
    assert policy.egress is not None
    return {
        **object_head("networking.k8s.io/v1", "NetworkPolicy", policy.name, policy.namespace),
        "spec": {
            "podSelector": {},
            "policyTypes": ["Ingress", "Egress"],
            "ingress": [_rule(rule, "from") for rule in policy.ingress],
            "egress": [_rule(rule, "to") for rule in policy.egress],
        },
    }


def _rule(rule: NetworkRule, direction: str) -> Body:
    peers = [_peer(peer) for peer in rule.peers]
    given_ports = rule.ports
    ports = [{"protocol": protocol, "port": port} for protocol, port in given_ports]
    return fields_given(**{direction: peers, "ports": ports})


def _peer(peer: Peer) -> Body:
    if peer.cidr is not None:
        block = {"cidr": peer.cidr, "except": list(peer.excluded)}
        return {"ipBlock": fields_given(**block)}
    body: Body = {}
    if peer.namespaces is not None:
        body["namespaceSelector"] = fields_given(matchLabels=dict(peer.namespaces))
    if peer.pods is not None:
        body["podSelector"] = fields_given(matchLabels=dict(peer.pods))
    return body


def priority_class(priority: PodPriority) -> Body:
    """PriorityClass."""
    return {
        **object_head("scheduling.k8s.io/v1", "PriorityClass", priority.name),
        "value": priority.value,
        "globalDefault": False,
        "preemptionPolicy": "PreemptLowerPriority" if priority.preempts else "Never",
        "description": priority.description,
    }


def disruption_budget(budget: DisruptionBudget) -> Body:
    """PodDisruptionBudget."""
    return {
        **object_head("policy/v1", "PodDisruptionBudget", budget.name, budget.namespace),
        "spec": {"minAvailable": budget.available, "selector": {"matchLabels": dict(budget.pods)}},
    }
