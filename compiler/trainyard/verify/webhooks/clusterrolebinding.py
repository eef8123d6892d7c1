"""ClusterRoleBinding (k8s.io/kubernetes v1.36, pkg/apis/rbac/validation ValidateRoleBindingSubject)."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.output.body import mappings_at
from trainyard.output.manifest import Body
from trainyard.verify.fault import Fault, refused
from trainyard.verify.webhooks import Lookup

GROUP = "rbac.authorization.k8s.io"


def check(body: Body, lookup: Lookup) -> Iterator[Fault]:
    for index, subject in enumerate(mappings_at(body, "subjects")):
        if subject.get("kind") == "ServiceAccount" and not subject.get("namespace"):
            yield refused(
                ("subjects", index),
                f"service account `{subject.get('name')}` has no namespace, and a ClusterRoleBinding has none either",
                "write `namespace:` next to its name",
            )
