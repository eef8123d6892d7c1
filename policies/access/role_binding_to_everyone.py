from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.judge.model.subjects import EVERYBODY
from trainyard.judge.model.values import indexed, mappings_at, value_at
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.language.places import Route
from trainyard.output.manifest import Manifest


@rule(
    "ACC005",
    aliases=("rights-for-everybody",),
    kinds=("rbac.authorization.k8s.io/RoleBinding", "rbac.authorization.k8s.io/ClusterRoleBinding"),
)
def role_binding_to_everyone(manifest: Manifest, world: World) -> Iterator[Finding]:
    """A role binding gives rights to everybody.

    `system:unauthenticated` are requests without credentials, `system:authenticated` all others (Kubernetes, RBAC,
    default roles). Anybody then has the rights of the team: to read pods, or to run programs in them. Kubernetes
    itself binds its roles for discovery (`system:...`) in this way; they are accepted. A role that only reads, and no
    Secrets, for those who have logged in, is a warning.

    ## Fails

        apiVersion: rbac.authorization.k8s.io/v1
        kind: RoleBinding
        metadata: {name: training-users, namespace: team-a}
        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: training-users}
        subjects: [{kind: Group, name: "system:unauthenticated", apiGroup: rbac.authorization.k8s.io}]

        apiVersion: rbac.authorization.k8s.io/v1
        kind: ClusterRoleBinding
        metadata: {name: admins}
        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
        subjects: [{kind: Group, name: "system:authenticated", apiGroup: rbac.authorization.k8s.io}]

    ## Passes

        apiVersion: rbac.authorization.k8s.io/v1
        kind: RoleBinding
        metadata: {name: training-users, namespace: team-a}
        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: training-users}
        subjects: [{kind: Group, name: team-a, apiGroup: rbac.authorization.k8s.io}]
    """
    role = manifest.body.get("roleRef")
    if isinstance(role, dict) and str(role.get("name", "")).startswith("system:"):
        return
    for index, subject in indexed(manifest.body, "subjects"):
        name = str(subject.get("name", ""))
        if name in EVERYBODY and subject.get("kind") in ("Group", "User"):
            yield Finding(
                f"a binding gives rights to `{name}`: {EVERYBODY[name]}",
                Route((manifest.id, "subjects", index, "name")),
                help="bind a group of your own, like `team-a`",
                severity=Severity.WARNING if _is_harmless(name, role, world) else None,
            )


_READING = frozenset({"get", "list", "watch"})


def _is_harmless(name: str, role: object, world: World) -> bool:
    """Whether a role of the set only reads what is no secret, and nobody has it without logging in."""
    if name not in ("system:authenticated", "system:serviceaccounts"):
        return False
    for manifest in world.manifests:
        ref = manifest.ref
        if ref.kind == value_at(role, "kind") and ref.name == value_at(role, "name"):
            return all(map(_only_reads, mappings_at(manifest.body, "rules")))
    return False


def _only_reads(allowed: Mapping[str, Any]) -> bool:
    resources = allowed.get("resources") or ["*"]
    secret = {"secrets", "*"}.intersection(resources)
    return _READING.issuperset(allowed.get("verbs") or ["*"]) and not secret
