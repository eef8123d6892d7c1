"""OCIRepository (source-controller v1.10.1, api/v1: the rules of the definition)."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.manifest import Body
from compiler.output.body import at
from compiler.verify.fault import Fault, breaks
from compiler.verify.webhooks import Lookup

GROUP = "source.toolkit.fluxcd.io"


def check(body: Body, lookup: Lookup) -> Iterator[Fault]:
    for field, example in (("url", "oci://ghcr.io/org/charts/name"), ("interval", "10m")):
        if at(body, "spec", field) is None:
            yield breaks(
                ("spec", field),
                f"an OCIRepository without `{field}`",
                f"write `{field}: {example}`",
            )
