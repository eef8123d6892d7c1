"""ClusterRole: its rules (k8s.io/kubernetes v1.36, pkg/apis/rbac/validation)."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.output.manifest import Body
from trainyard.verify.fault import Fault
from trainyard.verify.webhooks import Lookup
from trainyard.verify.webhooks._rbac import rules

GROUP = "rbac.authorization.k8s.io"


def check(body: Body, lookup: Lookup) -> Iterator[Fault]:
    yield from rules(body)
