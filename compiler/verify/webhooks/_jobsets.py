"""Replicated jobs: JobSet's webhook (jobset v0.12.0, pkg/webhooks) and Kueue's topology annotations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from compiler.output.body import at, items
from compiler.verify.fault import Fault, Path, breaks, nearest, refused
from compiler.verify.webhooks._topology import topology
from compiler.verify.webhooks.job import job_spec

_MOST_DEPENDENCIES = 5


def replicated_jobs(path: Path, spec: Any) -> Iterator[Fault]:
    """Faults of the replicated jobs of a JobSet's spec at a path."""
    earlier: list[str] = []
    claims, told = claimed(spec), set[str]()
    for index, job in enumerate(items(spec, "replicatedJobs")):
        here = (*path, "replicatedJobs", index)
        inner = at(job, "template", "spec") or {}
        for fault in job_spec(
            (*here, "template", "spec"), inner, restart_defaulted=True, volumes=claims
        ):
            # a claim that all pods share, named otherwise, is one fault
            if (
                not claims
                or fault.message not in told
                or "volumeMounts" not in fault.path
            ):
                yield fault
            told.add(fault.message)
        pods = int(at(inner, "parallelism") or 1) * int(job.get("replicas") or 1)
        annotations = at(inner, "template", "metadata", "annotations")
        yield from topology(
            (*here, "template", "spec", "template", "metadata", "annotations"),
            annotations,
            pods,
        )
        yield from _dependencies(
            (*here, "dependsOn"), items(job, "dependsOn"), earlier, first=index == 0
        )
        if (
            job.get("dependsOn")
            and at(spec, "startupPolicy", "startupPolicyOrder") == "InOrder"
        ):
            yield breaks(
                (*here, "dependsOn"),
                "`dependsOn` stands beside a startup policy `InOrder`",
                "keep one of the two",
                key=True,
            )
        earlier.append(str(job.get("name")))
    yield from _policy_targets(path, spec, set(earlier))


def claimed(spec: Any) -> set[str]:
    """The volumes that JobSet makes itself, for every pod of the set that mounts them (jobset v0.12,
    ``volumeClaimPolicies``)."""
    policies = items(spec, "volumeClaimPolicies")
    return {
        str(at(each, "metadata", "name"))
        for policy in policies
        for each in items(policy, "templates")
    }


def _dependencies(
    path: Path, found: list[dict[str, Any]], earlier: list[str], *, first: bool
) -> Iterator[Fault]:
    if first and found:
        yield refused(
            path,
            "the first replicated job cannot depend on another",
            key=True,
            help="put it after the job that it depends on",
        )
        return
    if len(found) > _MOST_DEPENDENCIES:
        yield refused(
            path,
            f"{len(found)} dependencies are more than {_MOST_DEPENDENCIES}",
            help=f"keep at most {_MOST_DEPENDENCIES}",
        )
    for index, dependency in enumerate(found):
        if dependency.get("name") not in earlier:
            message = f"replicated job `{dependency.get('name')}` does not stand before this one"
            yield refused((*path, index, "name"), message, "put it earlier in the list")


def _policy_targets(path: Path, spec: Any, jobs: set[str]) -> Iterator[Fault]:
    places: list[tuple[Path, Any]] = [
        (
            ("successPolicy", "targetReplicatedJobs"),
            at(spec, "successPolicy", "targetReplicatedJobs"),
        )
    ]
    places += [
        (
            ("failurePolicy", "rules", index, "targetReplicatedJobs"),
            rule.get("targetReplicatedJobs"),
        )
        for index, rule in enumerate(items(spec, "failurePolicy", "rules"))
    ]
    for tail, names in places:
        for index, name in enumerate(names or ()):
            if name not in jobs:
                yield refused(
                    (*path, *tail, index),
                    f"replicated job `{name}` is not one of this JobSet",
                    help=nearest(str(name), jobs, "name one of its `replicatedJobs`"),
                )
