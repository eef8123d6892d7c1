"""Kustomization of Flux (kustomize-controller v1.10.1, api/v1 and internal/controller)."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.output.body import mappings_at, value_at
from trainyard.output.manifest import Body
from trainyard.verify.fault import Fault, never_works, refused
from trainyard.verify.webhooks import Lookup
from trainyard.verify.webhooks._flux import seconds

GROUP = "kustomize.toolkit.fluxcd.io"
_LEAST_INTERVAL = 60  # below a minute Flux' own documentation advises against; only 0 is refused


def check(body: Body, lookup: Lookup) -> Iterator[Fault]:
    spec = value_at(body, "spec") or {}
    if seconds(spec.get("interval")) == 0:
        yield refused(
            ("spec", "interval"), "an interval of 0 never ends", f"use {_LEAST_INTERVAL}s or more"
        )
    if spec.get("wait") is True and spec.get("healthChecks"):
        message = "`healthChecks` are not looked at, since `wait` checks every object"
        yield never_works(
            ("spec", "healthChecks"), message, "keep one of the two", key=True, warning=True
        )
    if (
        spec.get("healthCheckExprs")
        and spec.get("wait") is not True
        and not spec.get("healthChecks")
    ):
        message = "`healthCheckExprs` are looked at only with `wait` or `healthChecks`"
        yield never_works(
            ("spec", "healthCheckExprs"), message, "set `wait: true`", key=True, warning=True
        )
    for index, expression in enumerate(mappings_at(spec, "healthCheckExprs")):
        if not expression.get("kind"):
            yield never_works(
                ("spec", "healthCheckExprs", index),
                "an expression without `kind` matches no object",
                help="write the `apiVersion` and `kind` that it is for",
            )
