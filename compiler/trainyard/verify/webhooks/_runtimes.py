"""Training runtimes (trainer v2.3.0, pkg/webhooks/trainingruntime_webhook.go, pkg/runtime/framework/plugins)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from trainyard.core.pods.plan import INITIALIZERS
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.output.body import mappings_at, value_at
from trainyard.output.manifest import Body
from trainyard.verify.fault import Fault, Path, never_works, refused
from trainyard.verify.webhooks._jobsets import replicated_jobs

ANCESTOR = "trainer.kubeflow.org/trainjob-ancestor-step"
UNCHECKED = "trainer.kubeflow.org/webhook-validation"
CONTAINER = {
    "trainer": "node",
    "dataset-initializer": "dataset-initializer",
    "model-initializer": "model-initializer",
}
_CONTAINERS: Path = ("template", "spec", "template", "spec", "containers")
_JOBS: Path = ("spec", "template", "spec", "replicatedJobs")


def runtime(body: Body) -> Iterator[Fault]:
    """Faults of a TrainingRuntime or ClusterTrainingRuntime."""
    jobs = mappings_at(body, *_JOBS)
    policy = value_at(body, "spec", "mlPolicy") or {}
    if value_at(body, "metadata", "labels", UNCHECKED) != "disabled":
        for index, job in enumerate(jobs):
            yield from _ancestor((*_JOBS, index), job)
    yield from _trainer(jobs)
    if policy.get("torch") is not None:
        yield from _first_node(jobs)
    yield from replicated_jobs(
        ("spec", "template", "spec"),
        value_at(body, "spec", "template", "spec"),
        added_volumes(policy),
    )


# trainer v2.3.0, pkg/runtime/framework/plugins/mpi EnforceMLPolicy.
_OF_MPI = {
    "node": frozenset({"mpi-ssh-auth"}),
    "launcher": frozenset({"mpi-ssh-auth", "mpi-hostfile"}),
}


def added_volumes(policy: Any) -> dict[str, frozenset[str]]:
    """The volumes that Trainer adds for an ML policy, by the names of the replicated jobs that get them."""
    if value_at(policy, "mpi") is not None:
        return _OF_MPI
    return {}


def _trainer(jobs: list[dict[str, Any]]) -> Iterator[Fault]:
    if takes_trainer(jobs) or has_commands(jobs):
        return
    message = (
        f"no replicated job has the label `{ANCESTOR}: trainer`: "
        "what a TrainJob says in `trainer` goes nowhere"
    )
    help = "put it in `template.metadata.labels` of the job that trains"
    yield never_works(_JOBS, message, help)


def takes_trainer(jobs: Sequence[Body]) -> bool:
    """Whether what a TrainJob says in `trainer` reaches a pod. Without a job of step `trainer`, one pod of the
    runtime's own image runs, without command, nodes or variables of the job (builder.go, Trainer)."""
    steps = [_step(job) for job in jobs]
    return any(step not in (None, *INITIALIZERS) for step in steps)


def has_commands(jobs: Sequence[Body]) -> bool:
    """Whether a runtime says itself what runs, so that a TrainJob need not."""
    for job in jobs:
        for container in mappings_at(job, *_CONTAINERS):
            if container.get("command") or container.get("args"):
                return True
    return False


def _first_node(jobs: list[dict[str, Any]]) -> Iterator[Fault]:
    if any(job.get("name") == "node" for job in jobs):
        return
    message = "no replicated job is called `node`, the one that `PET_MASTER_ADDR` names"
    steps = [_step(job) for job in jobs]
    place = _JOBS
    if "trainer" in steps:
        place = (*_JOBS, steps.index("trainer"), "name")
    yield never_works(place, message, "rename the job that trains", warning=True)


def _step(job: dict[str, Any]) -> Any:
    return value_at(job, "template", "metadata", "labels", ANCESTOR)


def _ancestor(path: Path, job: dict[str, Any]) -> Iterator[Fault]:
    step = _step(job)
    if step is None:
        return
    if step not in CONTAINER:
        label = (*path, "template", "metadata", "labels", ANCESTOR)
        message = f"`{step}` is no step of a TrainJob"
        yield never_works(label, message, f"one of {listed(CONTAINER)}")
        return
    replicas = job.get("replicas")
    if replicas not in (None, 1):
        message = f"the job of step `{step}` has {replicas} replicas, not 1"
        yield refused((*path, "replicas"), message, "scale with `numNodes`")
    containers = mappings_at(job, *_CONTAINERS)
    names = [container.get("name") for container in containers]
    wanted = CONTAINER[step]
    if wanted not in names:
        place = (*path, *_CONTAINERS)
        if len(names) == 1:
            place = (*place, 0, "name")
        message = f"the job of step `{step}` has no container `{wanted}`"
        yield refused(place, message, f"call the container `{wanted}`")
