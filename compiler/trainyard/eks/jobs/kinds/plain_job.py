"""batch/v1 Job: one pod, or an Indexed Job of pods that do not know each other (Kubernetes 1.36).

A pod of an Indexed Job finds its index in ``JOB_COMPLETION_INDEX``. It is retried alone, so nothing that needs the
others can run in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from trainyard.core.jobs.retrying import job_retries
from trainyard.core.jobs.starters import launches_torchrun
from trainyard.core.pods.plan import EnvVar, ReplicatedJob
from trainyard.eks.jobs.bodies import POD, Written, pod_template
from trainyard.eks.jobs.kind import Ending, NameLimit, OwnPods, program_part
from trainyard.eks.jobs.kinds.job_set import torch_variables
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
from trainyard.output.manifest import Body
from trainyard.plan.base import PlanItem

if TYPE_CHECKING:
    from trainyard.core.jobs.job import Job
    from trainyard.plan.context import Context

_ALONE = "localhost"


class PlainJob(OwnPods):
    """Pods that are alone."""

    name = kind = "Job"
    place = 4
    api = "batch/v1"
    plural = "jobs"
    crd = "kubernetes-core/v1.36.0"
    framework = "batch/job"
    operator = ""
    pods = (("spec", "template", "spec"),)
    name_limit = NameLimit(63, "it is the value of a label of its pods")
    name_syntax = "dns-subdomain"
    has_peers = False
    restarts_gang = False
    elastic = True
    made_by_others = True
    launchers = ("torch",)
    run_pods = OF_JOB
    ends = Ending(("Complete",))  # batch/v1, JobConditionType
    retries = ("spec", "backoffLimit")
    restarted = "single pods"
    places = {
        ("activeDeadlineSeconds",): "deadline",
        ("completions",): "nodes",
        ("parallelism",): "nodes",
        ("backoffLimit",): "max_restarts",
        ("backoffLimitPerIndex",): "max_restarts",
    }
    retried = "how often each pod is recreated, alone"

    def check(self, context: Context, job: Job) -> None:
        super().check(context, job)
        spec = job.spec
        if spec.nodes == 1:
            return
        from trainyard.core.jobs.launchers.launcher import doubt_ignored  # only specs have jobs

        why = f"is a Job of {spec.nodes} nodes, whose pods are alone"
        help = "remove it: it is for torchrun, which starts nothing here"
        doubt_ignored(context, job, ("torchVersion", "maxRestarts"), why, help)
        words = [*spec.command, *spec.args]
        if launches_torchrun(words):
            context.fault(
                "RES163",
                f"job `{spec.name}` is a Job of {spec.nodes} nodes, whose pods do not find each other, and its command "
                "starts torchrun",
                job.at / "command",
                "write `kind: JobSet`, or remove `kind`; or start the program itself, which reads "
                "`JOB_COMPLETION_INDEX`",
                source="batch/v1 Job, completionMode Indexed",
            )

    def instead_elastic(self, context: Context, job: Job) -> str:
        from trainyard.core.jobs.launchers.launcher import launcher_of  # only specs have jobs

        spec = job.spec
        is_gang = launches_torchrun([*spec.command, *spec.args]) or bool(spec.roles)
        for_torchrun = spec.torch_version is not None or spec.max_restarts is not None
        if is_gang or for_torchrun or launcher_of(job).framework not in self.launchers:
            return ""
        return "write `kind: Job`, for pods that do not talk to each other: some start without the others"

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

    def written(self, job: TrainJob, runtime: Runtime) -> Written:
        (part,) = runtime.jobs
        limit = "backoffLimit"
        indexed: Body = {}
        if job.nodes != 1:
            limit = "backoffLimitPerIndex"
            indexed = {
                "completionMode": "Indexed",
                "completions": job.nodes,
                "parallelism": job.nodes,
            }
        spec = fields_given(
            **indexed,
            **{limit: part.backoff_limit},
            activeDeadlineSeconds=job.deadline,
            managedBy=job.managed_by,
            template=pod_template(part.pod),
        )
        return spec, [("spec", *POD)]

    def lift(self, body: Reader) -> Iterator[PlanItem]:
        spec = body / "spec"
        own = pod(spec / "template")
        limit = spec / "backoffLimit" or spec / "backoffLimitPerIndex"
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
        fields = JobFields(deadline=spec / "activeDeadlineSeconds", nodes=spec / "parallelism")
        yield from job_and_pods(body, runtime, fields, nodes=parallelism(spec))

    def parts(self, body: Reader) -> Iterator[Part]:
        yield part_of_job(body / "spec")

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
            "pods without a controller of training above them",
            "batch/v1",
        )
        limit, why = "backoffLimit", "how often the pod is recreated"
        if nodes > 1:
            limit, why = "backoffLimitPerIndex", "how often each pod is recreated, alone"
        context.derive(
            job.target,
            "restart",
            f"restartPolicy Never, {limit} {retries}",
            why,
            "batch/v1 Job, Kubernetes 1.33",
        )


KIND = PlainJob()
