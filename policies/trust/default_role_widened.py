from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.judge.model.values import indexed, value_at
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity
from trainyard.language.places import Route
from trainyard.output.manifest import Manifest

_LABEL = "rbac.authorization.k8s.io/aggregate-to-"
_POWERS = ("escalate", "bind", "impersonate", "*")


@rule("ACC049", severity=Severity.WARNING, kinds=("rbac.authorization.k8s.io/ClusterRole",))
def default_role_widened(manifest: Manifest) -> Iterator[Finding]:
    """A role is added to `view`, `edit` or `admin`, and lets all who have one of these read Secrets, or give rights.

    A ClusterRole with a label `aggregate-to-…` is a part of that role wherever it is bound (Kubernetes, RBAC,
    aggregated ClusterRoles), without a binding that anybody would review. `view` has no Secrets on purpose: they hold
    the credentials of service accounts.

    ## Fails

        apiVersion: rbac.authorization.k8s.io/v1
        kind: ClusterRole
        metadata: {name: tools, labels: {rbac.authorization.k8s.io/aggregate-to-view: "true"}}
        rules: [{apiGroups: [""], resources: [secrets], verbs: [get, list]}]

        apiVersion: rbac.authorization.k8s.io/v1
        kind: ClusterRole
        metadata: {name: tools, labels: {rbac.authorization.k8s.io/aggregate-to-edit: "true"}}
        rules: [{apiGroups: [rbac.authorization.k8s.io], resources: [roles], verbs: [bind, escalate]}]

    ## Passes

        apiVersion: rbac.authorization.k8s.io/v1
        kind: ClusterRole
        metadata: {name: tools, labels: {rbac.authorization.k8s.io/aggregate-to-view: "true"}}
        rules: [{apiGroups: [kueue.x-k8s.io], resources: [workloads], verbs: [get, list, watch]}]
    """
    labels = value_at(manifest.body, "metadata", "labels")
    named = labels.items() if isinstance(labels, dict) else ()
    roles = [
        key.removeprefix(_LABEL) for key, on in named if key.startswith(_LABEL) and on == "true"
    ]
    for index, allowed in indexed(manifest.body, "rules"):
        what = _too_much(allowed, roles)
        if what:
            yield Finding(
                f"role `{manifest.ref.name}` becomes a part of `{roles[0]}`, and allows {what}",
                Route((manifest.id, "rules", index)),
                label="for everybody who has that role, in every namespace of theirs",
                help="remove the label, and bind the role to those who need it",
            )


def _too_much(allowed: dict[str, Any], roles: list[str]) -> str:
    """What a rule allows that the default roles do not have on purpose."""
    if not roles:
        return ""
    verbs, resources = allowed.get("verbs") or (), allowed.get("resources") or ()
    groups = allowed.get("apiGroups") or ()
    for verb in _POWERS:
        if verb in verbs and ("rbac.authorization.k8s.io" in groups or "*" in groups):
            return f"`{verb}` on rights"
    of_core = "" in groups or "*" in groups
    if of_core and "view" in roles and ("secrets" in resources or "*" in resources):
        return "to read Secrets"
    return ""
