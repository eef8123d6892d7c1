"""StatefulSet: its pods, and a selector that matches them (k8s.io/kubernetes v1.36, pkg/apis/apps/validation)."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.output.body import mappings_at, value_at
from trainyard.output.manifest import Body
from trainyard.verify.fault import Fault
from trainyard.verify.webhooks import Lookup
from trainyard.verify.webhooks._pods import always_restarted

GROUP = "apps"


def check(body: Body, lookup: Lookup) -> Iterator[Fault]:
    claims = mappings_at(body, "spec", "volumeClaimTemplates")
    names = {str(value_at(claim, "metadata", "name")) for claim in claims}
    yield from always_restarted(body, "StatefulSet", names)
