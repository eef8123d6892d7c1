"""Pass 4: plan to artifacts. Total: a valid plan always lowers.

A target is the module ``target`` of a subject: a function ``lower(plan)`` that yields artifacts of any format, built by
pure functions from plan nodes to bodies and texts.
"""

from __future__ import annotations

from compiler.output import Artifact
from compiler.plan import Plan
from compiler.platforms.eks.cluster.plan import Bootstrap
from compiler.rooms import parts

__all__ = ["lower"]


def lower(plan: Plan) -> list[Artifact]:
    """Everything that is written for a plan, by target and then in the order of the plan. Where Terraform makes what
    AWS must have, its modules stand in place of the stacks."""
    artifacts = [artifact for module in parts("target") for artifact in module.lower(plan)]
    boot = plan.one(Bootstrap)
    if boot is None or boot.terraform is None:
        return artifacts
    # Most clusters have stacks.
    from compiler.targets.terraform import State, modules

    bucket = boot.terraform.bucket
    region = boot.terraform.region
    return list(modules(artifacts, State(boot.cluster, boot.region, bucket, region)))
