"""Deployment: its pods, and a selector that matches them (k8s.io/kubernetes v1.36, pkg/apis/apps/validation)."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.manifest import Body
from compiler.verify.fault import Fault
from compiler.verify.webhooks import Lookup
from compiler.verify.webhooks._pods import always_restarted

GROUP = "apps"


def check(body: Body, lookup: Lookup) -> Iterator[Fault]:
    yield from always_restarted(body, "Deployment")
