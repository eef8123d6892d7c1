"""Topology: what a ResourceFlavor with it needs (kueue v0.19.2, apis/kueue/v1beta2/topology_types.go)."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.manifest import Body
from compiler.output.body import items
from compiler.verify.fault import Fault, breaks, refused
from compiler.verify.syntax import SYNTAXES
from compiler.verify.webhooks import Lookup

GROUP = "kueue.x-k8s.io"
HOSTNAME = "kubernetes.io/hostname"


def check(body: Body, lookup: Lookup) -> Iterator[Fault]:
    syntax = SYNTAXES["label-key"]
    for index, level in enumerate(items(body, "spec", "levels")):
        if not syntax.accepts(str(level.get("nodeLabel"))):
            yield refused(
                ("spec", "levels", index, "nodeLabel"),
                syntax.breach(str(level.get("nodeLabel"))),
                f"use {syntax.help}",
            )
    labels = [level.get("nodeLabel") for level in items(body, "spec", "levels")]
    for index, label in enumerate(labels):
        if labels.index(label) != index:
            yield breaks(
                ("spec", "levels", index, "nodeLabel"),
                f"level `{label}` is there twice",
                "remove one",
            )
        elif (
            label == HOSTNAME and index != len(labels) - 1 and labels.count(label) == 1
        ):
            yield breaks(
                ("spec", "levels", index, "nodeLabel"),
                f"`{label}` is not the lowest level",
                "put it last",
            )
