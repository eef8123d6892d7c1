"""batch/v1 Job: one pod, or an Indexed Job of pods that do not know each other (Kubernetes 1.36).

A pod of an Indexed Job finds its index in ``JOB_COMPLETION_INDEX``. It is retried alone, so nothing that needs the
others can run in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from compiler.context import Context
from compiler.core.jobs.job import Job
from compiler.core.jobs.launchers.torchrun.resolve import launches_torchrun
from compiler.core.jobs.retrying import job_retries
from compiler.core.pods.plan import EnvVar
from compiler.platforms.eks.runs.kinds.job_set import torch_variables
from compiler.platforms.eks.runs.kinds.kind import OwnPods, program_part
from compiler.platforms.eks.runs.plan import Runtime

_ALONE = "localhost"


class PlainJob(OwnPods):
    """Pods that are alone."""

    name = "Job"
    elastic = True
    launchers = ("torch",)
    retried = "each pod is made anew so often, alone"

    def check(self, context: Context, job: Job) -> None:
        super().check(context, job)
        spec = job.spec
        words = [*spec.command, *spec.args]
        if spec.nodes > 1 and launches_torchrun(words):
            context.fault(
                "RES163",
                f"job `{spec.name}` is a Job of {spec.nodes} nodes, whose pods do not find each other, and its command "
                "starts torchrun",
                job.at / "command",
                "write `apiGroup: jobset.x-k8s.io`, or remove `apiGroup`; or start the program itself, which reads "
                "`JOB_COMPLETION_INDEX`",
                source="batch/v1 Job, completionMode Indexed",
            )

    def host(self, job: Job, name: str) -> str:
        """The pod itself."""
        return _ALONE

    def processes(self, declared: int | None) -> int | None:
        """They stand in a variable, of one pod."""
        return None

    def environment(
        self, context: Context, job: Job, name: str, processes: int
    ) -> Iterator[EnvVar]:
        if job.spec.nodes == 1:
            yield from torch_variables(context, job, processes, _ALONE)

    def runtime(self, context: Context, job: Job, runtime: Runtime) -> Runtime:
        """One pod template; the Job counts its own failures."""
        node = program_part(runtime)
        retries = job_retries(job)
        return replace(
            runtime,
            kind=self.name,
            jobs=(replace(node, backoff_limit=retries),),
            framework=runtime.framework if job.spec.nodes == 1 else None,
            nodes=None,
            max_restarts=None,
            restart_strategy=None,
            settings={},
        )

    def explain(self, context: Context, job: Job) -> None:
        nodes = job.spec.nodes
        retries = job_retries(job)
        least = job.spec.least_nodes
        if least is not None:
            context.derive(
                job.target,
                "nodes",
                f"{least} to {nodes} at once, {nodes} pods in all",
                "Kueue admits as many as the quota has room for; the other pods follow as these end",
                "kueue v0.19.2, kueue.x-k8s.io/job-min-parallelism",
            )
        context.derive(
            job.target,
            "kind",
            self.name,
            f"apiGroup {job.spec.api_group}: pods without a controller of training above them",
            "batch/v1",
        )
        limit, why = "backoffLimit", "the pod is made anew so often"
        if nodes > 1:
            limit, why = "backoffLimitPerIndex", "each pod is made anew so often, alone"
        context.derive(
            job.target,
            "restart",
            f"restartPolicy Never, {limit} {retries}",
            why,
            "batch/v1 Job, Kubernetes 1.33",
        )


KIND = PlainJob()
