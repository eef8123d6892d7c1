"""Deployment: its pods, and a selector that matches them (k8s.io/kubernetes v1.36, pkg/apis/apps/validation)."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.manifest import Body
from compiler.output.body import at
from compiler.verify.fault import Fault, refused
from compiler.verify.webhooks import Lookup
from compiler.verify.webhooks._pods import template

GROUP = "apps"


def check(body: Body, lookup: Lookup) -> Iterator[Fault]:
    yield from template(
        ("spec", "template"), at(body, "spec", "template"), selector=at(body, "spec", "selector")
    )
    policy = at(body, "spec", "template", "spec", "restartPolicy")
    if policy not in (None, "Always"):
        path = ("spec", "template", "spec", "restartPolicy")
        yield refused(path, f"pods of a Deployment restart always, not `{policy}`", "leave it out")
