from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.values import indexed
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity
from trainyard.language.places import Route
from trainyard.output.manifest import Manifest


@rule(
    "ACC041",
    severity=Severity.WARNING,
    kinds=("rbac.authorization.k8s.io/Role", "rbac.authorization.k8s.io/ClusterRole"),
)
def role_allows_everything(manifest: Manifest) -> Iterator[Finding]:
    """A role allows every verb on every resource.

    With `*` for groups, resources and verbs a role is `cluster-admin` by another name: it reads Secrets, and gives
    itself and others any right (Kubernetes, RBAC good practices, least privilege).

    ## Fails

        apiVersion: rbac.authorization.k8s.io/v1
        kind: ClusterRole
        metadata: {name: operator}
        rules: [{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}]

        patches: [{target: {kind: Role}, patch: [{op: add, path: /rules/-,
          value: {apiGroups: ["*"], resources: ["*"], verbs: ["*"]}}]}]

    ## Passes

        apiVersion: rbac.authorization.k8s.io/v1
        kind: ClusterRole
        metadata: {name: operator}
        rules: [{apiGroups: ["kueue.x-k8s.io"], resources: ["*"], verbs: ["*"]}]
    """
    for index, allowed in indexed(manifest.body, "rules"):
        if all(_is_everything(allowed.get(key)) for key in _KEYS):
            yield Finding(
                f"role `{manifest.ref.name}` allows every verb on every resource",
                Route((manifest.id, "rules", index)),
                label="who is bound to it may do everything",
                help="name the groups, the resources and the verbs",
            )


_KEYS = ("apiGroups", "resources", "verbs")


def _is_everything(values: object) -> bool:
    return isinstance(values, list) and "*" in values
