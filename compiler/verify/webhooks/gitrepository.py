"""GitRepository (source-controller v1.10.1, api/v1: the rules of the definition)."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.manifest import Body
from compiler.output.body import at
from compiler.verify.fault import Fault, breaks
from compiler.verify.webhooks import Lookup

GROUP = "source.toolkit.fluxcd.io"
_WITH_ACCOUNT = ("azure", "aws")


def check(body: Body, lookup: Lookup) -> Iterator[Fault]:
    provider = at(body, "spec", "provider") or "generic"
    if at(body, "spec", "serviceAccountName") is not None and provider not in _WITH_ACCOUNT:
        yield breaks(
            ("spec", "serviceAccountName"),
            f"provider `{provider}` has no service account",
            "remove it, or write `provider: aws`",
            key=True,
        )
