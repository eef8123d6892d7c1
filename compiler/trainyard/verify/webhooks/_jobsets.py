"""Replicated jobs: JobSet's webhook (jobset v0.12.0, pkg/webhooks) and Kueue's topology annotations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.output.body import mappings_at, value_at
from trainyard.verify.fault import Fault, Path, nearest, refused
from trainyard.verify.webhooks._topology import topology
from trainyard.verify.webhooks.job import job_spec

_NONE: Mapping[str, frozenset[str]] = {}


def replicated_jobs(
    path: Path, spec: Any, added: Mapping[str, frozenset[str]] = _NONE
) -> Iterator[Fault]:
    """Faults of the replicated jobs of a JobSet's spec at a path. ``added`` are volumes that a controller adds to the
    pods of a replicated job, by its name."""
    earlier: list[str] = []
    claims = claimed(spec)
    reported: set[str] = set()
    for index, job in enumerate(mappings_at(spec, "replicatedJobs")):
        here = (*path, "replicatedJobs", index)
        name = str(job.get("name"))
        volumes = claims | added.get(name, frozenset())
        yield from _job_spec((*here, "template", "spec"), job, volumes, reported)
        yield from _annotations((*here, "template", "spec"), job)
        dependencies = mappings_at(job, "dependsOn")
        yield from _dependencies((*here, "dependsOn"), dependencies, earlier, first=index == 0)
        earlier.append(name)
    yield from _policy_targets(path, spec, set(earlier))


def _job_spec(
    path: Path, job: dict[str, Any], claims: set[str], reported: set[str]
) -> Iterator[Fault]:
    """Faults of the Job. A claim that all pods share is one fault, even if several jobs misname it."""
    spec = value_at(job, "template", "spec") or {}
    for fault in job_spec(path, spec, restart_defaulted=True, volumes=claims):
        is_mount = "volumeMounts" in fault.path
        if not (claims and is_mount and fault.message in reported):
            yield fault
        reported.add(fault.message)


def _annotations(path: Path, job: dict[str, Any]) -> Iterator[Fault]:
    spec = value_at(job, "template", "spec")
    parallelism = int(value_at(spec, "parallelism") or 1)
    replicas = int(job.get("replicas") or 1)
    inner = ("template", "metadata", "annotations")
    annotations = value_at(spec, *inner)
    yield from topology((*path, *inner), annotations, parallelism * replicas)


def claimed(spec: Any) -> set[str]:
    """The volumes that JobSet makes itself, for every pod of the set that mounts them (jobset v0.12,
    ``volumeClaimPolicies``)."""
    names: set[str] = set()
    for policy in mappings_at(spec, "volumeClaimPolicies"):
        for template in mappings_at(policy, "templates"):
            names.add(str(value_at(template, "metadata", "name")))
    return names


def _dependencies(
    path: Path, dependencies: list[dict[str, Any]], earlier: list[str], *, first: bool
) -> Iterator[Fault]:
    if first and dependencies:
        yield refused(
            path,
            "the first replicated job cannot depend on another",
            key=True,
            help="put it after the job that it depends on",
        )
        return
    for index, dependency in enumerate(dependencies):
        name = dependency.get("name")
        if name not in earlier:
            message = f"replicated job `{name}` does not come before this one"
            yield refused((*path, index, "name"), message, "put it earlier in the list")


def _policy_targets(path: Path, spec: Any, jobs: set[str]) -> Iterator[Fault]:
    places: list[Path] = [("successPolicy",)]
    for number, _ in enumerate(mappings_at(spec, "failurePolicy", "rules")):
        places.append(("failurePolicy", "rules", number))
    for place in places:
        names = value_at(spec, *place, "targetReplicatedJobs")
        for index, name in enumerate(names or ()):
            if name not in jobs:
                yield refused(
                    (*path, *place, "targetReplicatedJobs", index),
                    f"replicated job `{name}` is not one of this JobSet",
                    help=nearest(str(name), jobs, "name one of its `replicatedJobs`"),
                )
