"""Pass 4: plan to artifacts. Total: a valid plan always lowers.

The module ``lower`` of a feature has a function ``lower(plan)`` that yields artifacts of any format, built by pure
functions from plan items to bodies and texts.
"""

from __future__ import annotations

from trainyard.core.cloud.plan import TerraformState
from trainyard.output import Artifact
from trainyard.plan import Plan
from trainyard.plan.features import Platform, parts, stack_writer

__all__ = ["lower"]


def lower(plan: Plan, platform: Platform | None = None) -> list[Artifact]:
    """Everything that is written for a plan, by feature and then in the order of the plan. Where another tool makes
    what AWS must have, its modules replace the stacks. ``platform``: where it is known, the features of others are left
    out."""
    features = tuple(sorted(platform.features)) if platform is not None else None
    artifacts = [artifact for module in parts("lower", features) for artifact in module.lower(plan)]
    state = plan.one(TerraformState)
    if state is None:
        return artifacts
    return list(stack_writer(state.tool).modules(artifacts, state))
