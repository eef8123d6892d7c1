"""Rules of Role and ClusterRole (k8s.io/kubernetes v1.36, pkg/apis/rbac/validation ValidatePolicyRule)."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.output.body import mappings_at
from trainyard.output.manifest import Body
from trainyard.verify.fault import Fault, refused


def rules(body: Body) -> Iterator[Fault]:
    """Faults of the rules: one is about resources, with their groups, or about addresses."""
    for index, rule in enumerate(mappings_at(body, "rules")):
        if rule.get("nonResourceURLs"):
            continue
        for field, example in (("apiGroups", '`[""]` for the core'), ("resources", "`[pods]`")):
            if not rule.get(field):
                yield refused(
                    ("rules", index), f"a rule without `{field}`", f"write them: {example}"
                )
