"""jobset.x-k8s.io/v1alpha2 JobSet, as Trainer makes one of a TrainJob, without Trainer (v0.12.0)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from compiler.resolve.context import Context
from compiler.subjects.jobs.binding import Job
from compiler.subjects.jobs.environment import variable
from compiler.subjects.jobs.kinds.kind import OwnPods
from compiler.subjects.jobs.plan import INDEX, EnvVar, Runtime

PORT = 29500
_SOURCE = "trainer v2.3.0, pkg/runtime/framework/plugins/torch"


def torch_variables(
    context: Context, job: Job, processes: int, host: str
) -> Iterator[EnvVar]:
    """What Trainer would set for torchrun and for programs without a launcher."""
    values = {
        "PET_NNODES": (str(job.spec.nodes), "the nodes of the job"),
        "PET_NPROC_PER_NODE": (str(processes), "the processes of a node"),
        "PET_MASTER_ADDR": (host, "the first pod of the job"),
        "PET_MASTER_PORT": (str(PORT), "the port of rank 0"),
    }
    for name, (value, why) in values.items():
        yield from variable(context, job, name, value, why, _SOURCE)


class JobSet(OwnPods):
    """One replicated job with all nodes, which are made anew together."""

    name = "JobSet"
    launchers = ("torch",)

    def check(self, context: Context, job: Job) -> None:
        super().check(context, job)
        if job.spec.timeout is not None:
            context.fault(
                "RES162",
                f"job `{job.spec.name}` is a JobSet, which has no deadline for all of its attempts",
                job.at / "timeout",
                "remove it, or remove `apiGroup`: a TrainJob has one",
                source="jobset v0.12.0, api/jobset/v1alpha2",
            )

    def processes(self, declared: int | None) -> int | None:
        """They stand in a variable."""
        return None

    def environment(
        self, context: Context, job: Job, name: str, processes: int
    ) -> Iterator[EnvVar]:
        yield from torch_variables(context, job, processes, self.host(job, name))
        if "PET_NODE_RANK" not in job.spec.env:
            path = f"metadata.annotations['{INDEX}']"
            yield EnvVar("PET_NODE_RANK", pod_field=path)

    def runtime(self, context: Context, job: Job, runtime: Runtime) -> Runtime:
        """That of the TrainJob: Trainer would make the same JobSet of it."""
        return replace(runtime, kind=self.name, nodes=None, settings={})

    def explain(self, context: Context, job: Job) -> None:
        context.derive(
            job.target,
            "kind",
            self.name,
            f"apiGroup {job.spec.api_group}: no Trainer between the job and its pods",
            "jobset.x-k8s.io/v1alpha2",
        )


KIND = JobSet()
