"""What the JobSet controller does for TrainJobs and JobSets alike: the names of hosts, and restarts.

Source: jobset v0.12.0, api/jobset/v1alpha2, network.enableDNSHostnames and failurePolicy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainyard.core.pods.plan import DOMAIN

if TYPE_CHECKING:
    from trainyard.core.jobs.job import Job
    from trainyard.plan.context import Context

DELETES = "jobset v0.12.0, which deletes Jobs in the foreground"
"""How pods go before others come."""


def host_of(job: Job, name: str, role: str = "node") -> str:
    """The host of the first pod of a role, as every pod of the job knows it: also that pod itself, from its start.
    ``name`` is that of the job's object."""
    return f"{name}-{role}-0-0.{name}.{job.namespace}.svc.{DOMAIN}"


def explain_restart(context: Context, job: Job) -> None:
    """Derive why no pod restarts alone."""
    context.derive(
        job.target,
        "restart",
        "restartPolicy Never, backoffLimit 0",
        "a lost rank hangs the others: every failure passes to JobSet, which recreates all pods",
        "jobset.x-k8s.io/v1alpha2 failurePolicy",
    )
