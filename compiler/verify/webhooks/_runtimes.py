"""Training runtimes (trainer v2.3.0, pkg/webhooks/trainingruntime_webhook.go, pkg/runtime/framework/plugins)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from compiler.diagnostics.diagnostic import listed
from compiler.manifest import Body
from compiler.output.body import at, items
from compiler.verify.fault import Fault, Path, breaks, never_works, refused
from compiler.verify.webhooks._jobsets import replicated_jobs

ANCESTOR = "trainer.kubeflow.org/trainjob-ancestor-step"
UNCHECKED = "trainer.kubeflow.org/webhook-validation"
CONTAINER = {
    "trainer": "node",
    "dataset-initializer": "dataset-initializer",
    "model-initializer": "model-initializer",
}
_JOBS: Path = ("spec", "template", "spec", "replicatedJobs")


_SOURCES = ("torch", "mpi", "jax", "xgboost", "flux")


def runtime(body: Body) -> Iterator[Fault]:
    """Faults of a TrainingRuntime or ClusterTrainingRuntime."""
    jobs = items(body, *_JOBS)
    policy = at(body, "spec", "mlPolicy") or {}
    for name in [each for each in _SOURCES if policy.get(each) is not None][1:]:
        yield breaks(
            ("spec", "mlPolicy", name),
            f"`{name}` stands beside another source",
            "keep one",
            key=True,
        )
    for index, target in enumerate(items(policy, "torch", "envInjection", "targets")):
        if "node" in (names := target.get("containerNames") or ()):
            place: Path = (
                "spec",
                "mlPolicy",
                "torch",
                "envInjection",
                "targets",
                index,
                "containerNames",
            )
            message = "container `node` gets its variables anyway"
            yield breaks(
                (*place, names.index("node")), message, "remove it from the list"
            )
    if at(body, "metadata", "labels", UNCHECKED) != "disabled":
        for index, job in enumerate(jobs):
            yield from _ancestor((*_JOBS, index), job)
    if all(_step(job) in (None, *CONTAINER) for job in jobs) and not any(
        _step(job) == "trainer" for job in jobs
    ):
        message = (
            f"no replicated job has the label `{ANCESTOR}: trainer`: "
            "what a TrainJob says in `trainer` goes nowhere"
        )
        # One pod of the runtime's own image runs, without command, nodes or variables of the job (builder.go, Trainer).
        yield never_works(
            _JOBS,
            message,
            "put it in `template.metadata.labels` of the job that trains",
        )
    if at(body, "spec", "mlPolicy", "torch") is not None and not any(
        job.get("name") == "node" for job in jobs
    ):
        message = (
            "no replicated job is called `node`, the one that `PET_MASTER_ADDR` names"
        )
        trains = [index for index, job in enumerate(jobs) if _step(job) == "trainer"]
        place = (*_JOBS, trains[0], "name") if trains else _JOBS
        yield never_works(place, message, "rename the job that trains", warning=True)
    yield from replicated_jobs(
        ("spec", "template", "spec"), at(body, "spec", "template", "spec")
    )


def _step(job: dict[str, Any]) -> Any:
    return at(job, "template", "metadata", "labels", ANCESTOR)


def _ancestor(path: Path, job: dict[str, Any]) -> Iterator[Fault]:
    step = _step(job)
    if step is None:
        return
    if step not in CONTAINER:
        label = (*path, "template", "metadata", "labels", ANCESTOR)
        yield never_works(
            label, f"`{step}` is no step of a TrainJob", f"one of {listed(CONTAINER)}"
        )
        return
    if (replicas := job.get("replicas")) not in (None, 1):
        yield refused(
            (*path, "replicas"),
            f"the job of step `{step}` has {replicas} replicas, not 1",
            "scale with `numNodes`",
        )
    names = [
        container.get("name")
        for container in items(
            job, "template", "spec", "template", "spec", "containers"
        )
    ]
    if CONTAINER[step] not in names:
        place: Path = (*path, "template", "spec", "template", "spec", "containers")
        place = (*place, 0, "name") if len(names) == 1 else place
        yield refused(
            place,
            f"the job of step `{step}` has no container `{CONTAINER[step]}`",
            help=f"call the container `{CONTAINER[step]}`",
        )
