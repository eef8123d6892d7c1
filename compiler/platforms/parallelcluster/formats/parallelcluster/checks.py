"""What ParallelCluster's validators say of several keys together (aws-parallelcluster 3.16.1, pcluster/validators)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from compiler.verify.fault import Fault, refused


def checked(body: dict[str, Any]) -> Iterator[Fault]:
    """The faults of a whole configuration."""
    head = body.get("HeadNode")
    if isinstance(head, dict):
        networking = head.get("Networking")
        if isinstance(networking, dict) and {"SecurityGroups", "AdditionalSecurityGroups"} <= set(
            networking
        ):
            yield refused(
                ("HeadNode", "Networking", "AdditionalSecurityGroups"),
                "`SecurityGroups` and `AdditionalSecurityGroups` cannot be given together",
                "keep one: `AdditionalSecurityGroups` adds to those that ParallelCluster makes",
                key=True,
            )
