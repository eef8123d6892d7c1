"""Topology: what a ResourceFlavor with it needs (kueue v0.19.2, apis/kueue/v1beta2/topology_types.go)."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.output.body import mappings_at
from trainyard.output.manifest import Body
from trainyard.verify.fault import Fault, refused
from trainyard.verify.syntax import SYNTAXES
from trainyard.verify.webhooks import Lookup

GROUP = "kueue.x-k8s.io"
HOSTNAME = "kubernetes.io/hostname"


def check(body: Body, lookup: Lookup) -> Iterator[Fault]:
    syntax = SYNTAXES["label-key"]
    levels = mappings_at(body, "spec", "levels")
    labels = [level.get("nodeLabel") for level in levels]
    for index, label in enumerate(labels):
        if not syntax.accepts(str(label)):
            path = ("spec", "levels", index, "nodeLabel")
            yield refused(path, syntax.breach(str(label)), syntax.advice(str(label)))
