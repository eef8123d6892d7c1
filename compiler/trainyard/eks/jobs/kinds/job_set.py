"""jobset.x-k8s.io/v1alpha2 JobSet, as Trainer makes one of a TrainJob, without Trainer (v0.12.0)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from trainyard.core.jobs.variables import variable
from trainyard.core.pods.plan import INDEX, EnvVar, ReplicatedJob
from trainyard.eks.jobs.bodies import KeyPath, Written, runtime_spec
from trainyard.eks.jobs.by_jobset import DELETES, explain_restart, host_of
from trainyard.eks.jobs.kind import Ending, OwnPods, program_part
from trainyard.eks.jobs.lifting import (
    JobFields,
    Part,
    framework_of,
    job_and_pods,
    one_or,
    own_runtime,
    parallelism,
    part_of_job,
)
from trainyard.eks.jobs.plan import Runtime, TrainJob
from trainyard.eks.jobs.run_pods import OF_JOBSET
from trainyard.language.places import Route
from trainyard.lift.pods import pod
from trainyard.lift.reader import Reader
from trainyard.output.lowering.body import fields_given
from trainyard.plan.base import PlanItem

if TYPE_CHECKING:
    from trainyard.core.jobs.job import Job
    from trainyard.core.jobs.keys import Role
    from trainyard.plan.context import Context

PORT = 29500
_NAMES = "jobset v0.12.0, network.enableDNSHostnames"
_SOURCE = "trainer v2.3.0, pkg/runtime/framework/plugins/torch"


def torch_variables(context: Context, job: Job, processes: int, host: str) -> Iterator[EnvVar]:
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
    """One replicated job with all nodes, which are recreated together."""

    name = kind = "JobSet"
    place = 3
    api = "jobset.x-k8s.io/v1alpha2"
    plural = "jobsets"
    crd = "jobset/v0.12.0"
    framework = "jobset.x-k8s.io/jobset"
    operator = ""
    pods = (("spec", "replicatedJobs", "*", "template", "spec", "template", "spec"),)
    name_limit = None
    name_syntax = "dns-subdomain"
    launchers = ("torch",)
    run_pods = OF_JOBSET
    ends = Ending(("Completed",))  # jobset v1alpha2, jobset_types.go
    retries = ("spec", "failurePolicy", "maxRestarts")
    retried = "how often JobSet recreates all pods"
    restarted = "all pods together"
    deletes = DELETES
    restarts_gang = True
    has_peers = True
    made_by_others = True
    has_roles = True
    places = {
        ("failurePolicy", "maxRestarts"): "max_restarts",
        ("replicatedJobs", 0, "template", "spec", "parallelism"): "nodes",
    }

    def check(self, context: Context, job: Job) -> None:
        super().check(context, job)
        names = [role.name for role in job.spec.roles]
        for index, name in enumerate(names):
            if name in ("node", *names[:index]):
                context.fault(
                    "RES009",
                    f"role `{name}` of job `{job.spec.name}` is declared twice, or named as the job's own nodes are",
                    job.at / "roles" / index / "name",
                    "rename it",
                )
        if job.spec.timeout is not None:
            context.fault(
                "RES162",
                f"job `{job.spec.name}` is a JobSet, which has no deadline for all of its attempts",
                job.at / "timeout",
                "remove it, or remove `kind`: a TrainJob has one",
                source="jobset v0.12.0, api/jobset/v1alpha2",
            )

    def host(self, job: Job, name: str) -> str:
        return host_of(job, name)

    def explain_restart(self, context: Context, job: Job) -> None:
        explain_restart(context, job)

    def nodes(self, job: Job) -> int:
        """Its own, and those of its roles: Kueue admits all of them or none."""
        of_roles = sum(role.nodes for role in job.spec.roles)
        return job.spec.nodes + of_roles

    def processes(self, declared: int | None) -> int | None:
        """They stand in a variable."""
        return None

    def environment(
        self, context: Context, job: Job, name: str, processes: int
    ) -> Iterator[EnvVar]:
        host = self.host(job, name)
        yield from torch_variables(context, job, processes, host)
        if "PET_NODE_RANK" not in job.spec.env:
            path = f"metadata.annotations['{INDEX}']"
            yield EnvVar("PET_NODE_RANK", pod_field=path)
        for role in job.spec.roles:
            host = host_of(job, name, role.name)
            variable_name = f"{role.name.upper().replace('-', '_')}_HOST"
            why = f"the first pod of role {role.name}"
            yield from variable(context, job, variable_name, host, why, _NAMES)

    def runtime(self, context: Context, job: Job, runtime: Runtime) -> Runtime:
        """That of the TrainJob: Trainer would make the same JobSet of it."""
        own = replace(runtime, kind=self.name, nodes=None, settings={})
        if not job.spec.roles:
            return own
        node = program_part(runtime)
        parts = [replace(node, nodes=job.spec.nodes)]
        for index, role in enumerate(job.spec.roles):
            at = job.at / "roles" / index
            part = _part(node, role, at)
            parts.append(part)
        return replace(own, jobs=tuple(parts), decisive=(node.name,))

    def written(self, job: TrainJob, runtime: Runtime) -> Written:
        """Each replicated job is one Indexed Job of as many pods as it has nodes."""
        spec = runtime_spec(runtime)
        pods: list[KeyPath] = []
        for index, part in enumerate(runtime.jobs):
            template = spec["replicatedJobs"][index]["template"]
            template.pop("metadata", None)
            count = part.nodes or job.nodes
            indexed = {"completionMode": "Indexed", "completions": count, "parallelism": count}
            template["spec"] = {**indexed, **template["spec"]}
            pods.append(("spec", "replicatedJobs", index, "template", "spec", "template", "spec"))
        return fields_given(managedBy=job.managed_by, **spec), pods

    def lift(self, body: Reader) -> Iterator[PlanItem]:
        spec = body / "spec"
        failure = spec / "failurePolicy"
        items = (spec / "replicatedJobs").items()
        alone = len(items) == 1
        parts = [_replicated(item, alone=alone) for item in items]
        counts = [parallelism(item.follow("template", "spec")) for item in items]
        framework = framework_of([part.pod for part in parts])
        runtime = replace(
            own_runtime(body, self.name, self.main, parts, framework=framework),
            restart_strategy=(failure / "restartStrategy").text(),
            decisive=spec.follow("successPolicy", "targetReplicatedJobs").texts(),
        )
        fields = JobFields(
            deadline=spec / "activeDeadlineSeconds",
            max_restarts=failure / "maxRestarts",
            nodes=_largest(items, counts),
        )
        yield from job_and_pods(body, runtime, fields, nodes=sum(counts))

    def parts(self, body: Reader) -> Iterator[Part]:
        for replicated in body.follow("spec", "replicatedJobs").items():
            of_job = part_of_job(replicated.follow("template", "spec"))
            replicas = one_or(replicated / "replicas")
            pods = None
            if replicas is not None and of_job.pods is not None:
                pods = replicas * of_job.pods
            counted = of_job.counted if replicas == 1 else replicated / "replicas"
            name = (replicated / "name").word()
            yield Part(name, of_job.template, pods, counted, backoff=of_job.backoff)

    def explain(self, context: Context, job: Job) -> None:
        context.derive(
            job.target,
            "kind",
            self.name,
            "no Trainer between the job and its pods",
            "jobset.x-k8s.io/v1alpha2",
        )


def _largest(items: Sequence[Reader], counts: Sequence[int]) -> Reader | None:
    """Where the pods of the replicated job that has the most are counted."""
    if not items:
        return None
    largest = items[counts.index(max(counts))]
    return largest.follow("template", "spec", "parallelism")


def _part(node: ReplicatedJob, role: Role, at: Route) -> ReplicatedJob:
    """The pods of a role: those of the job's nodes, with another program."""
    variables = role.env.items()
    env = tuple(EnvVar(name, value) for name, value in variables)
    places = {
        "command": at / "command",
        "args": at / "args",
        "env": at / "env",
        **{f"env.{name}": at / "env" / name for name in role.env},
    }
    containers = [
        replace(
            container,
            command=tuple(role.command),
            args=tuple(role.args),
            env=env,
            origins={**container.origins, **places},
        )
        for container in node.pod.containers
    ]
    pod = replace(node.pod, containers=tuple(containers))
    return replace(node, at=at, name=role.name, step=None, pod=pod, nodes=role.nodes)


def _replicated(item: Reader, *, alone: bool) -> ReplicatedJob:
    job = item.follow("template", "spec")
    return ReplicatedJob(
        at=item.at,
        name=(item / "name").word(),
        step=None,
        pod=pod(job / "template"),
        backoff_limit=(job / "backoffLimit").integer(),
        nodes=None if alone else parallelism(job),
        origins={"backoff_limit": (job / "backoffLimit").at},
    )


KIND = JobSet()
