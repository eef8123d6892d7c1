from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.subjects import ADMINISTRATORS, EVERYBODY
from trainyard.judge.model.values import indexed, value_at
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity
from trainyard.language.places import Route
from trainyard.output.manifest import Manifest

_FLUX = "flux-system"


@rule(
    "ACC040",
    severity=Severity.WARNING,
    kinds=("rbac.authorization.k8s.io/RoleBinding", "rbac.authorization.k8s.io/ClusterRoleBinding"),
)
def binding_to_cluster_admin(manifest: Manifest) -> Iterator[Finding]:
    """A binding makes somebody an administrator of the cluster.

    `cluster-admin` may do everything: read every Secret, change every node and queue, give rights to others
    (Kubernetes, RBAC, user-facing roles). The controllers of Flux have it as Flux is installed (fluxcd/flux2 v2.9,
    `cluster-reconciler`), and are accepted in their namespace.

    ## Fails

        apiVersion: rbac.authorization.k8s.io/v1
        kind: ClusterRoleBinding
        metadata: {name: ci}
        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
        subjects: [{kind: ServiceAccount, name: ci, namespace: team-a}]

        apiVersion: rbac.authorization.k8s.io/v1
        kind: ClusterRoleBinding
        metadata: {name: pods}
        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
        subjects: [{kind: Group, apiGroup: rbac.authorization.k8s.io, name: "system:serviceaccounts:team-a"}]

    ## Passes

        apiVersion: rbac.authorization.k8s.io/v1
        kind: ClusterRoleBinding
        metadata: {name: cluster-reconciler-flux-system}
        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
        subjects: [{kind: ServiceAccount, name: kustomize-controller, namespace: flux-system}]

        apiVersion: rbac.authorization.k8s.io/v1
        kind: RoleBinding
        metadata: {name: ci, namespace: team-a}
        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
        subjects: [{kind: ServiceAccount, name: ci, namespace: team-a}]
    """
    if value_at(manifest.body, "roleRef", "name") != "cluster-admin":
        return
    where = "the cluster"
    if manifest.ref.kind == "RoleBinding":
        where = f"namespace `{manifest.ref.namespace}`"
    for index, subject in indexed(manifest.body, "subjects"):
        name = str(subject.get("name"))
        if subject.get("namespace") == _FLUX or name == ADMINISTRATORS:
            continue
        if name in EVERYBODY:
            continue  # ACC005 reports it
        yield Finding(
            f"`{name}` may do everything in {where}",
            Route((manifest.id, "subjects", index)),
            help="bind a role with the verbs and resources that are needed",
        )
