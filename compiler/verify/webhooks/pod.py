"""Pod (k8s.io/kubernetes v1.36, pkg/apis/core/validation)."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.manifest import Body
from compiler.output.body import at
from compiler.verify.fault import Fault
from compiler.verify.webhooks import Lookup
from compiler.verify.webhooks._pods import pod_spec

GROUP = ""


def check(body: Body, lookup: Lookup) -> Iterator[Fault]:
    yield from pod_spec(("spec",), at(body, "spec") or {})
