"""Environment variables that are derived for a job's program, unless the job sets them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainyard.core.pods.plan import EnvVar
from trainyard.language.places import Route

if TYPE_CHECKING:
    from trainyard.core.jobs.job import Job
    from trainyard.plan.context import Context


def variable(
    context: Context,
    job: Job,
    name: str,
    value: str,
    reason: str,
    source: str = "",
    *,
    follows: Route | None = None,
) -> list[EnvVar]:
    """A variable that is derived, unless the job sets it itself."""
    for index, secret in enumerate(job.spec.secret_env):
        if secret.env == name:
            at = job.at / "secretEnv" / index
            context.given(job.target, f"env.{name}", f"from Secret {secret.secret}", at)
            return []
    at = job.at / "env" / name
    own = job.spec.env.get(name)
    if own is not None:
        context.given(job.target, f"env.{name}", own, at)
        return []
    context.unset(job.target, f"env.{name}", value, reason, source, at=at, follows=follows)
    return [EnvVar(name, value)]
