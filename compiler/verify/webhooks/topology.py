"""Topology: what a ResourceFlavor with it needs (kueue v0.19.2, apis/kueue/v1beta2/topology_types.go)."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.manifest import Body
from compiler.verify.fault import Fault, refused
from compiler.verify.objects import items
from compiler.verify.syntax import SYNTAXES
from compiler.verify.webhooks import Lookup

GROUP = "kueue.x-k8s.io"


def check(body: Body, lookup: Lookup) -> Iterator[Fault]:
    syntax = SYNTAXES["label-key"]
    for index, level in enumerate(items(body, "spec", "levels")):
        if not syntax.accepts(str(level.get("nodeLabel"))):
            yield refused(
                ("spec", "levels", index, "nodeLabel"), syntax.breach(str(level.get("nodeLabel"))), f"use {syntax.help}"
            )
