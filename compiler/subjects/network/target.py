"""Target: the stack of the network that the bootstrap makes."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.output import Artifact
from compiler.plan import Plan
from compiler.subjects.network.plan import MadeNetwork


def lower(plan: Plan) -> Iterator[Artifact]:
    """One template, where the spec asks for more than eksctl's VPC."""
    made = plan.one(MadeNetwork)
    if made is not None:
        from compiler.subjects.network.stack import network_stack

        yield network_stack(made)
