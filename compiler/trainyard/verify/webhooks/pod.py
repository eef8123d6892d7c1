"""Pod (k8s.io/kubernetes v1.36, pkg/apis/core/validation)."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.output.body import at
from trainyard.output.manifest import Body
from trainyard.verify.fault import Fault
from trainyard.verify.webhooks import Lookup
from trainyard.verify.webhooks._pods import pod_spec

GROUP = ""


def check(body: Body, lookup: Lookup) -> Iterator[Fault]:
    yield from pod_spec(("spec",), at(body, "spec") or {})
