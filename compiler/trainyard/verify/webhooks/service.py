"""Service (k8s.io/kubernetes v1.36, pkg/apis/core/validation ValidateService)."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.output.body import mappings_at, value_at
from trainyard.output.manifest import Body
from trainyard.verify.fault import Fault, refused
from trainyard.verify.webhooks import Lookup

GROUP = ""
_HEADLESS = "None"


def check(body: Body, lookup: Lookup) -> Iterator[Fault]:
    ports = mappings_at(body, "spec", "ports")
    has_address = value_at(body, "spec", "type") != "ExternalName"
    if not ports and has_address and value_at(body, "spec", "clusterIP") != _HEADLESS:
        yield refused(
            ("spec", "ports"), "a Service without ports", "write `ports:`, or `clusterIP: None`"
        )
    for index, port in enumerate(ports):
        if len(ports) > 1 and not port.get("name"):
            yield refused(
                ("spec", "ports", index),
                f"one of {len(ports)} ports has no name",
                "write `name:`, by which others tell it from the rest",
            )
