"""Jobs that run on a training runtime of Trainer's release, unchanged: their own pods are a patch over it.

The chart of Trainer installs the runtimes by a hook: a Job that fetches kubectl from the internet, and deletes what the
next release has no more (trainer v2.3.0, charts/kubeflow-trainer/templates/runtimes/installer-job.yaml). Here the same
object is applied by Flux, under its name and the version of the release: it never changes under a job.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from trainyard.catalog.runtimes import released_runtimes
from trainyard.core.jobs.job import Job
from trainyard.core.jobs.launchers.launcher import launcher_of
from trainyard.core.pods.plan import Container, Pod, ReplicatedJob
from trainyard.eks.jobs.plan import TRAIN_JOB, Runtime
from trainyard.language.diagnostics.words import with_article
from trainyard.language.places import Route
from trainyard.plan.context import Context

_STEP = "trainer.kubeflow.org/trainjob-ancestor-step"
_API = "trainer v2.3.0, pkg/apis/trainer/v1alpha1 PodSpecPatch and ContainerPatch"
_NONE = "remove it; or remove `runtime`, so that one with it is derived"
_Refused = tuple[tuple[str, ...], str, str]
"""The place of a key in the job, why a TrainJob cannot say it, and what to write instead."""


def check(context: Context, job: Job) -> None:
    """Report what neither the released runtime has nor a TrainJob can say."""
    name = job.spec.runtime
    assert name is not None, "only asked of a job that has one"
    kind = job.kind.name
    if kind != TRAIN_JOB:
        context.fault(
            "RES207",
            f"job `{job.spec.name}` is {with_article(kind)}, and `{name}` is a runtime of TrainJobs",
            job.at / "runtime",
            "remove it, or remove `kind`",
            source="trainer.kubeflow.org/v1alpha1 runtimeRef",
        )
        return
    release = released_runtimes()[name]
    version = context.version("trainer")
    if version != release.version:
        context.fault(
            "RES206",
            f"`{name}` is known as Trainer `{release.version}` releases it, and the cluster has Trainer `{version}`",
            job.at / "runtime",
            f"take Trainer {release.version}, or remove `runtime`, so that one is derived",
            source=f"kubeflow/trainer v{release.version}, {release.file}",
        )
    for place, why, help in _refused(job, name):
        context.fault(
            "RES205",
            f"job `{job.spec.name}` uses `{name}` as it is released, {why}",
            job.at / place,
            help,
            source=_API,
        )


def _refused(job: Job, name: str) -> Iterator[_Refused]:
    spec = job.spec
    framework = _body(name)["metadata"]["labels"]["trainer.kubeflow.org/framework"]
    if launcher_of(job).framework != framework:
        why = f"whose policy is `{framework}`"
        yield ("launcher",), why, "remove it, or remove `runtime`"
    if spec.init_containers:
        why = "and a TrainJob adds no init container to it"
        yield ("initContainers",), why, _NONE
    if spec.initializer is not None:
        why = "which has no steps for initializers"
        yield ("initializer",), why, _NONE
    if spec.working_dir is not None:
        why = "and a TrainJob says no working directory"
        help = "let the program change to it; or remove `runtime`"
        yield ("workingDir",), why, help
    saves = spec.checkpoint
    if saves is not None and saves.signal_file is not None:
        why = "and a TrainJob adds no hook that makes the file"
        yield ("checkpoint", "signalFile"), why, _NONE
    mounted = (("files", spec.files), ("deepspeed", spec.deepspeed))
    for key, given in mounted:
        if given:
            why = "and files of a job belong to the runtime that mounts them"
            help = "put them into the image, or into a ConfigMap under `volumes`"
            yield (key,), why, help
    if spec.termination_grace_period is not None:
        why = "and Kueue drops a grace period from what a TrainJob patches"
        help = "save within 30 seconds; or remove `runtime`"
        yield ("terminationGracePeriod",), why, help
    if spec.retries:
        why = "which has no failure policy: its first failure ends it"
        help = "write `retries: 0`; or remove `runtime`"
        yield ("retries",), why, help


def name_of(name: str) -> str:
    """The name of the object: that of the release with its version."""
    return f"{name}-{released_runtimes()[name].version}"


def runtime(context: Context, job: Job, name: str) -> Runtime:
    """The released runtime. Each of those that a job may name has one replicated job, of one container."""
    at = job.at / "runtime"
    body = _body(name)
    policy = body["spec"]["mlPolicy"]
    framework = next(key for key in policy if key != "numNodes")
    jobs = body["spec"]["template"]["spec"]["replicatedJobs"]
    release = released_runtimes()[name]
    context.derive(
        job.target,
        "restart",
        "of pods, as Kubernetes has it by default",
        f"{name} has no failure policy, and no limit of its own",
        f"kubeflow/trainer v{release.version}, {release.file}",
    )
    return Runtime(
        at=at,
        name=name_of(name),
        jobs=tuple(_replicated(item, at) for item in jobs),
        framework=framework,
        settings=dict(policy[framework]),
        nodes=policy["numNodes"],
        prune=False,
    )


def _body(name: str) -> dict[str, Any]:
    return dict(released_runtimes()[name].body)


def _replicated(item: dict[str, Any], at: Route) -> ReplicatedJob:
    template = item["template"]
    containers = [
        Container(at=at, name=container["name"], image=container["image"])
        for container in template["spec"]["template"]["spec"]["containers"]
    ]
    return ReplicatedJob(
        at=at,
        name=item["name"],
        step=template["metadata"]["labels"][_STEP],
        pod=Pod(at=at, containers=tuple(containers)),
    )


def patch(pod: Pod, mounting: Pod | None) -> Pod:
    """What a pod of the job has more than that of the runtime, as far as a TrainJob may say it. ``mounting``: what it
    has for the job's storage."""
    (main,) = pod.containers
    mounts, volumes = main.mounts, pod.volumes
    places = dict(pod.origins)
    if mounting is not None:
        added = mounting.containers[0].mounts
        mounts = (*mounts, *added)
        volumes = (*volumes, *mounting.volumes)
        places.update(mounting.origins)
    container = Container(at=main.at, name=main.name, mounts=mounts)
    return replace(
        pod,
        containers=(container,),
        init_containers=(),
        volumes=volumes,
        restart_policy=None,
        grace_seconds=None,
        priority_class=None,
        origins=places,
    )
