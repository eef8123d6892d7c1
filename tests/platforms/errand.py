"""errands.example.dev/v1 Errand: a kind that the compiler does not have. One pod, which is tried again.

``tests/test_recipes.py`` puts this file beside the kinds of jobs, and its definition beside theirs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from trainyard.core.jobs.retrying import job_retries
from trainyard.core.pods.plan import ReplicatedJob
from trainyard.eks.jobs.bodies import POD, Written, pod_template
from trainyard.eks.jobs.kind import Ending, NameLimit, OwnPods, program_part
from trainyard.eks.jobs.lifting import (
    JobFields,
    Part,
    framework_of,
    job_and_pods,
    own_runtime,
    parallelism,
    part_of_job,
)
from trainyard.eks.jobs.plan import Runtime, TrainJob
from trainyard.eks.jobs.run_pods import OF_JOB
from trainyard.lift.pods import pod
from trainyard.lift.reader import Reader
from trainyard.output.lowering.body import fields_given
from trainyard.plan.base import PlanItem

if TYPE_CHECKING:
    from trainyard.core.jobs.job import Job
    from trainyard.plan.context import Context


class Errand(OwnPods):
    """A pod that is alone."""

    name = kind = "Errand"
    place = 90
    api = "errands.example.dev/v1"
    plural = "errands"
    crd = "errands/v1.0.0"
    framework = "Errand.v1.errands.example.dev"
    operator = ""
    pods = (("spec", "template", "spec"),)
    name_limit = NameLimit(40, "its controller adds the time to it")
    name_syntax = "dns-label"
    has_peers = False
    restarts_gang = False
    launchers = ("torch",)
    run_pods = OF_JOB
    ends = Ending(("Done",))
    retries = ("spec", "backoffLimit")
    restarted = "the pod"
    places = {("activeDeadlineSeconds",): "deadline", ("backoffLimit",): "max_restarts"}
    retried = "how often the pod is made again"

    def host(self, job: Job, name: str) -> str:
        return "localhost"

    def processes(self, declared: int | None) -> int | None:
        return None

    def runtime(self, context: Context, job: Job, runtime: Runtime) -> Runtime:
        node = replace(program_part(runtime), backoff_limit=job_retries(job))
        return replace(
            runtime,
            kind=self.name,
            jobs=(node,),
            framework=None,
            nodes=None,
            max_restarts=None,
            restart_strategy=None,
            settings={},
        )

    def written(self, job: TrainJob, runtime: Runtime) -> Written:
        (part,) = runtime.jobs
        spec = fields_given(
            backoffLimit=part.backoff_limit,
            completions=job.nodes,
            parallelism=job.nodes,
            activeDeadlineSeconds=job.deadline,
            template=pod_template(part.pod),
        )
        return spec, [("spec", *POD)]

    def lift(self, body: Reader) -> Iterator[PlanItem]:
        spec = body / "spec"
        own = pod(spec / "template")
        limit = spec / "backoffLimit"
        part = ReplicatedJob(
            at=spec.at,
            name="node",
            step=None,
            pod=own,
            backoff_limit=limit.integer(),
            origins={"backoff_limit": limit.at},
        )
        framework = framework_of([own])
        runtime = own_runtime(body, self.name, self.main, [part], framework=framework)
        fields = JobFields(deadline=spec / "activeDeadlineSeconds")
        yield from job_and_pods(body, runtime, fields, nodes=parallelism(spec))

    def parts(self, body: Reader) -> Iterator[Part]:
        yield part_of_job(body / "spec")

    def explain(self, context: Context, job: Job) -> None:
        context.derive(job.target, "kind", self.name, "an errand", "errands.example.dev/v1")


KIND = Errand()
