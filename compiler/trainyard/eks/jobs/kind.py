"""The record of a kind of object that runs a job: everything that the compiler knows of it.

A TrainJob refers to a runtime. Any other kind has its pods itself: in the plan these are a runtime that is named after
the job, so that rules, history and reports read every kind alike (docs/adr/0015).

What a kind reads back shares no code with what it writes (tests/platforms/test_kinds.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from trainyard.core.jobs.job import Kind, Unlike
from trainyard.core.pods.plan import Container, EnvVar, Pod, ReplicatedJob, merged
from trainyard.eks.jobs.bodies import KeyPath, Written
from trainyard.eks.jobs.heads import JOBS, job_head
from trainyard.eks.jobs.lifting import Part
from trainyard.eks.jobs.origins import head_origins, pod_origins, program_origins
from trainyard.eks.jobs.plan import Runtime, TrainJob, effective_pod, runtime_of
from trainyard.eks.jobs.run_pods import RunPods
from trainyard.language.dataclass import dataclass
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.diagnostics.words import with_article
from trainyard.language.places import Route
from trainyard.lift.reader import Reader
from trainyard.output.lowering.body import file_of
from trainyard.output.manifest import Manifest
from trainyard.plan import Plan
from trainyard.plan.base import PlanItem

if TYPE_CHECKING:
    from trainyard.core.jobs import spec as spec_jobs
    from trainyard.core.jobs.job import Job
    from trainyard.core.pools.pools import Pool
    from trainyard.plan.context import Context

TRAINER = "trainer"
"""The step of the pods that take the job's image, command and resources."""


class NameLimit(NamedTuple):
    """The most characters of an object's name, and why."""

    most: int
    why: str


@dataclass(frozen=True, slots=True)
class CalledBy:
    """Who reaches the pods of a job from outside, at a port: a component, whose pods have its name as a label, or all
    of a ``namespace`` where no chart of the release brings it."""

    component: str
    port: int
    namespace: str = ""


ASKED = (
    *(
        "name",
        "kind",
        "place",
        "api",
        "plural",
        "crd",
        "framework",
        "operator",
        "pods",
        "name_limit",
    ),
    *("name_syntax", "retries", "retried", "restarted", "restarts_gang", "has_peers"),
    *("launchers", "run_pods", "ends"),
)
"""What every kind must set itself. The values of :class:`JobKind` mark what is not set, so that the guards can name
all of it (tests/platforms/test_kinds.py)."""
ASKED_BY_LAUNCHERS = {"torch": ("host",)}
"""What else is asked of a kind that can run a launcher, by the launcher's framework."""


class Ending(NamedTuple):
    """How the status of an object says that it is over: the types of conditions that hold once its work is done, or has
    failed; or, with a ``field``, the values of that field, where an object has no conditions."""

    done: tuple[str, ...]
    failed: tuple[str, ...] = ("Failed",)
    field: tuple[str, ...] = ()


class JobKind(Kind):
    """A kind of object that runs a job."""

    chooses = "all nodes come from the first in which the queue has enough free"
    chooses_source = "kueue v0.19.2, pkg/scheduler/flavorassigner"
    pools_in_order = "Kueue has no order for single jobs"
    place: ClassVar[int] = 0
    """Its place in lists that are written: a kind that comes later changes no order."""
    kind: ClassVar[str] = ""
    """The ``kind`` of its objects; ``name`` is the same, or ``kind.group`` where another kind has that name."""
    api: ClassVar[str] = ""
    """The ``apiVersion`` of its objects."""
    plural: ClassVar[str] = ""
    """Its resource, as RBAC and kubectl call it."""
    crd: ClassVar[str] = ""
    """The project and release whose definition of it is kept (``compiler/trainyard/verify/data``)."""
    framework: ClassVar[str | None] = ""
    """What Kueue calls it in ``integrations.frameworks``, or in ``externalFrameworks``, as ``Kind.version.group``;
    ``None`` where Kueue cannot manage it, so that RUN089 reports each job of it that has a queue."""
    operator: ClassVar[str] = ""
    """The component that runs it and is there for jobs of it alone; "" where every cluster has its controller."""
    pods: ClassVar[tuple[tuple[str, ...], ...]] = ()
    """Where its objects have specs of pods: ``*`` is each item of a list, ``{}`` each value of a mapping."""
    name_limit: ClassVar[NameLimit | None] = None
    """The limit of its name that is lower than that of its syntax, if there is one."""
    name_syntax: ClassVar[str] = "dns-subdomain"
    """What its name must be: a key of ``compiler/trainyard/verify/syntax.py``."""
    retries: ClassVar[tuple[str, ...]] = ()
    """Where its objects say how often they are started again; () where their runtime does."""
    retried: ClassVar[str] = ""
    """What ``retries`` of a job does."""
    restarted: ClassVar[str] = ""
    """What it restarts when a pod fails."""
    deletes: ClassVar[str] = ""
    """The source of how the pods that were are deleted before others come, where it is no part of Kubernetes."""
    mends: ClassVar[str] = ""
    """What its operator does about a lost pod before that, while the rest runs on."""
    launchers: ClassVar[tuple[str, ...]] = ()
    """The launchers that it can run, by their framework."""
    run_pods: ClassVar[RunPods] = RunPods("")
    """How the pods of a run are found."""
    ends: ClassVar[Ending] = Ending((), ())
    """How its status says that it is over."""
    counts_pods: ClassVar[bool] = False
    """Whether that number is of the restarts of all pods, and not of the gang."""
    main: ClassVar[str] = "node"
    """The container that runs the program."""
    made_by_others: ClassVar[bool] = False
    """Whether objects of other kinds make some of it."""
    elastic: ClassVar[bool] = False
    """Whether it may start with fewer nodes than it asks for."""
    in_part: ClassVar[bool] = True
    """Whether Kueue then admits a part of it, by its annotation; else its own fields say so."""
    has_roles: ClassVar[bool] = False
    """Whether it runs other programs on nodes of their own."""
    applied_once: ClassVar[bool] = False
    """Whether Flux applies it where it is not there, and never again."""
    called_by: ClassVar[CalledBy | None] = None

    @property
    def group(self) -> str:
        """The API group of its objects."""
        return self.api.partition("/")[0]

    @property
    def word(self) -> str:
        """What kubectl takes for one of them."""
        if self.name == self.kind:
            return self.kind.lower()
        return f"{self.plural}.{self.group}"

    def check(self, context: Context, job: Job) -> None:
        """Report what an object of this kind cannot do."""
        least = job.spec.least_nodes
        if least is not None and not self.elastic:
            context.fault(
                "RES164",
                f"job `{job.spec.name}` may have {least} to {job.spec.nodes} nodes, "
                f"and Kueue admits all pods of {with_article(self.name)} or none",
                job.at / "minNodes",
                "; or ".join(["remove it", *_elastic(context, job)]),
                source="kueue v0.19.2, features.PartialAdmission and ElasticJobsViaWorkloadSlices; trainer v2.2.0, "
                "which has no elasticPolicy",
            )

        if job.spec.roles and not self.has_roles:
            context.fault(
                "RES167",
                f"job `{job.spec.name}` has roles, and {with_article(self.name)} has none of its own",
                job.at / "roles",
                "write `kind: JobSet`",
                source="jobset.x-k8s.io/v1alpha2 replicatedJobs",
            )

    def instead_elastic(self, context: Context, job: Job) -> str:
        """What to write so that this kind starts a job of another one with fewer nodes; empty where it cannot."""
        return ""

    def refuse_launcher(self, context: Context, job: Job, able: Sequence[str]) -> None:
        """Report a launcher that it cannot run; ``able`` are the kinds that can."""
        assert job.spec.launcher is not None, "each kind runs the launcher of jobs that name none"
        alternatives = [f"kind: {name}" for name in able]
        context.fault(
            "RES161",
            f"job `{job.spec.name}` is {with_article(self.name)}, which has no launcher "
            f"`{job.spec.launcher.name}`",
            job.at / "kind",
            f"write {listed(alternatives)}, or take another launcher",
        )

    def unlike(self, job: spec_jobs.Job, first: Pool, other: Pool) -> Iterator[Unlike]:
        from trainyard.eks.jobs.unlike import unlike  # few jobs name several pools

        return unlike(job, first, other)

    def processes(self, declared: int | None) -> int | None:
        """The processes of each node, where the object has a field for them."""
        return declared

    def words(self, job: Job) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The command and the arguments of the program."""
        command = tuple(job.spec.command)
        return command, tuple(job.spec.args)

    def environment(
        self, context: Context, job: Job, name: str, processes: int
    ) -> Iterator[EnvVar]:
        """The variables that no controller of this kind sets by itself."""
        yield from ()

    def runtime(self, context: Context, job: Job, runtime: Runtime) -> Runtime:
        """The runtime of a job, made of the one that its TrainJob would refer to."""
        return runtime

    def runtime_of(self, runtime: Runtime, job: TrainJob) -> Runtime:
        """The runtime once its job is known."""
        return runtime

    def annotations(self, job: Job) -> Mapping[str, str]:
        """Those of its object, beside the spec's own."""
        return {}

    def explain(self, context: Context, job: Job) -> None:
        """Derive what only ``explain`` shows."""

    def explain_restart(self, context: Context, job: Job) -> None:
        """Derive how its pods restart, where that is not of a runtime that the spec names."""

    def manifest(self, plan: Plan, job: TrainJob) -> Manifest:
        """The object of a job."""
        raise NotImplementedError

    def lift(self, body: Reader) -> Iterator[PlanItem]:
        """The job of an object that was written here, and its pods as a runtime."""
        raise NotImplementedError

    def parts(self, body: Reader) -> Iterator[Part]:
        """The pods of anyone's object of this kind."""
        raise NotImplementedError

    def as_made(self, body: Reader, part: str, pod: Pod) -> Pod:
        """What its controller makes of the pod of a part."""
        return pod


class OwnPods(JobKind):
    """A kind whose objects have their pods themselves."""

    places: ClassVar[Mapping[KeyPath, str]] = {}
    """The fields of the job or of its runtime that fields of ``spec`` come from."""

    def runtime_of(self, runtime: Runtime, job: TrainJob) -> Runtime:
        """Named after its job; pods other than the trainer's run the job's program unless they have their own."""
        main = runtime.main
        parts = runtime.jobs
        jobs = [self.filled(part, main, job) for part in parts]
        return replace(runtime, name=job.name, namespace=job.namespace, jobs=tuple(jobs))

    def filled(self, replicated: ReplicatedJob, main: str, job: TrainJob) -> ReplicatedJob:
        """A part of the job with its program."""
        return _filled(replicated, main, job)

    def manifest(self, plan: Plan, job: TrainJob) -> Manifest:
        """`suspend` is Kueue's, and never written."""
        runtime = runtime_of(plan, job)
        assert runtime is not None, "a job that is written has its pods"
        whole = replace(runtime, jobs=_parts(job, runtime))
        spec, pods = self.written(job, whole)
        named = job if self.in_part else replace(job, least_nodes=None)
        head = job_head(named, self.api, self.kind, whole, once=self.applied_once)
        body = {**head, "spec": spec}
        places = {("kind",): job.where("kind"), **head_origins(named)}
        words: list[KeyPath] = []
        for start, replicated in zip(pods, whole.jobs, strict=True):
            places.update(pod_origins(start, replicated.pod))
            containers = replicated.pod.containers
            index = [container.name for container in containers].index(runtime.main)
            here = (*start, "containers", index)
            places.update(program_origins(here, job, containers[index]))
            words += [(*here, "command"), (*here, "args")]
        for field, name in self.places.items():
            node = runtime if name == "max_restarts" else job
            places["spec", *field] = node.where(name)
        return Manifest(body, file_of(JOBS, body), job.at, places, tuple(words))

    def written(self, job: TrainJob, runtime: Runtime) -> Written:
        """The spec of its object, and where its pods are."""
        raise NotImplementedError


def _parts(job: TrainJob, runtime: Runtime) -> tuple[ReplicatedJob, ...]:
    """The parts of the job, with the program in that which takes it."""
    main = runtime.trainer()
    pod = effective_pod(job, runtime)
    parts = []
    for part in runtime.jobs:
        if part is main and pod is not None:
            part = replace(part, pod=pod)
        parts.append(part)
    return tuple(parts)


def _filled(replicated: ReplicatedJob, main: str, job: TrainJob) -> ReplicatedJob:
    if replicated.step == TRAINER:
        return replicated
    containers = []
    for container in replicated.pod.containers:
        if container.name == main:
            container = _program(container, job)
        containers.append(container)
    pod = replace(replicated.pod, containers=tuple(containers))
    return replace(replicated, pod=pod)


def _program(container: Container, job: TrainJob) -> Container:
    own = container.command
    return replace(
        container,
        image=container.image or job.image,
        command=own or job.command,
        args=container.args if own else job.args,
        env=merged(job.env, container.env),
        requests=job.requests,
        limits=job.limits,
        origins={**_places(job), **container.origins},
    )


def _places(job: TrainJob) -> dict[str, Route]:
    names = ("image", "command", "args", "env", "requests", "limits")
    return {name: job.where(name) for name in names}


def program_part(runtime: Runtime) -> ReplicatedJob:
    """The part that takes the program of the job: the only one, but of a launcher that the kind does not have."""
    main = runtime.trainer()
    return runtime.jobs[0] if main is None else main


def renamed(pod: Pod, main: str) -> Pod:
    """A pod whose container for the program has another name."""
    containers = []
    for container in pod.containers:
        if container.name == "node":
            container = replace(container, name=main)
        containers.append(container)
    return replace(pod, containers=tuple(containers))


def _elastic(context: Context, job: Job) -> Iterator[str]:
    """What to write so that another kind starts a job with fewer nodes."""
    known: list[JobKind] = list(context.answers.kinds().values())
    for kind in known:
        instead = kind.instead_elastic(context, job)
        if instead:
            yield instead


def kind_of(job: Job) -> JobKind:
    """The kind of a job of EKS. Raises TypeError for a job of another platform."""
    kind = job.kind
    if not isinstance(kind, JobKind):
        raise TypeError(f"`{job.spec.name}` is no job of EKS")
    return kind
