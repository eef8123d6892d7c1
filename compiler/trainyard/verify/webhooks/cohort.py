"""Cohort: the same quota rules as a ClusterQueue; limits need a parent (kueue v0.19.2,
pkg/webhooks/cohort_webhook.go).
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.output.body import mappings_at, value_at
from trainyard.output.manifest import Body
from trainyard.verify.fault import Fault, refused
from trainyard.verify.webhooks import Lookup
from trainyard.verify.webhooks._quota import resource_groups

GROUP = "kueue.x-k8s.io"


def check(body: Body, lookup: Lookup) -> Iterator[Fault]:
    spec = value_at(body, "spec") or {}
    # v1beta2 calls it parentName, v1beta1 parent
    parent = spec.get("parentName") or spec.get("parent")
    yield from resource_groups(mappings_at(spec, "resourceGroups"), in_cohort=bool(parent))
    if parent and parent == value_at(body, "metadata", "name"):
        yield refused(
            ("spec", "parentName" if "parentName" in spec else "parent"),
            f"cohort `{parent}` is its own parent",
            help="name another cohort, or leave it out",
        )
