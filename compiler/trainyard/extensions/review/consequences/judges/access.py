"""Who may do what: roles and their bindings, service accounts, networks, admission, secrets, namespaces.

Sources: Kubernetes 1.35, RBAC, network policies, pod security admission, validating admission policies, namespaces (all
that is in one is deleted with it); External Secrets Operator 2.9.0, SecretStore and ExternalSecret.
"""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.extensions.forecast.change import Action, Consequence, Effect
from trainyard.extensions.review.edits.edit import Edit
from trainyard.extensions.review.edits.judge import Judge
from trainyard.output.fields import Steps

_KUBERNETES = "Kubernetes 1.35"
_POD_SECURITY = "pod-security.kubernetes.io/"


def _rights(edit: Edit, steps: Steps) -> Effect | None:
    if edit.action is Action.CHANGED and steps[:1] == ("metadata",):
        return None
    return Effect(Consequence.ACCESS, "it says who may do what", f"{_KUBERNETES}, RBAC")


def _service_account(edit: Edit, steps: Steps) -> Effect | None:
    """Its annotations may name a role of AWS."""
    if edit.action is Action.CHANGED and steps[:2] == ("metadata", "labels"):
        return None
    return Effect(
        Consequence.ACCESS, "pods and controllers act as it", f"{_KUBERNETES}, service accounts"
    )


def _network(edit: Edit, steps: Steps) -> Effect | None:
    if edit.action is Action.CHANGED and steps[:1] == ("metadata",):
        return None
    return Effect(
        Consequence.ACCESS, "it says which pods may reach which", f"{_KUBERNETES}, network policies"
    )


def _admission(edit: Edit, steps: Steps) -> Effect | None:
    if edit.action is Action.CHANGED and steps[:1] == ("metadata",):
        return None
    return Effect(
        Consequence.ACCESS,
        "it says what the API server takes, and from whom",
        f"{_KUBERNETES}, validating admission policies",
    )


def _secret(edit: Edit, steps: Steps) -> Effect | None:
    if edit.action is Action.CHANGED and steps[:1] == ("metadata",):
        return None
    return Effect(
        Consequence.ACCESS,
        "it says which secret is read, by whom and where",
        "External Secrets Operator 2.9.0, API of external-secrets.io/v1",
    )


def _namespace(edit: Edit, steps: Steps) -> Effect | None:
    if edit.action is Action.ADDED:
        return Effect(Consequence.HARMLESS, "it is empty; what is in it is listed by itself")
    if edit.action is Action.REMOVED:
        return Effect(
            Consequence.ENDS_JOBS,
            "all that is in it is deleted with it: jobs, and claims of storage",
            f"{_KUBERNETES}, namespaces",
        )
    if any(str(step).startswith(_POD_SECURITY) for step in steps):
        return Effect(
            Consequence.ACCESS,
            "it says which pods may be created",
            f"{_KUBERNETES}, pod security admission",
        )
    return None


_RBAC = ("Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding")
_SECRETS = ("SecretStore", "ClusterSecretStore", "ExternalSecret")
_POLICIES = ("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding")
KINDS: Mapping[str, Judge] = {
    **{f"{kind}.rbac.authorization.k8s.io": _rights for kind in _RBAC},
    **{f"{kind}.external-secrets.io": _secret for kind in _SECRETS},
    **{f"{kind}.admissionregistration.k8s.io": _admission for kind in _POLICIES},
    "ServiceAccount": _service_account,
    "Secret": _secret,
    "NetworkPolicy.networking.k8s.io": _network,
    "CiliumNetworkPolicy.cilium.io": _network,
    "CiliumClusterwideNetworkPolicy.cilium.io": _network,
    "Namespace": _namespace,
}
