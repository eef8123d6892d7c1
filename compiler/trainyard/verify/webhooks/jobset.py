"""JobSet (jobset v0.12.0, pkg/webhooks/jobset_webhook.go)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.output.body import mappings_at, value_at
from trainyard.output.manifest import Body
from trainyard.verify.fault import Fault, nearest, refused
from trainyard.verify.names import pod_name_faults
from trainyard.verify.webhooks import Lookup
from trainyard.verify.webhooks._jobsets import replicated_jobs

GROUP = "jobset.x-k8s.io"


def check(body: Body, lookup: Lookup) -> Iterator[Fault]:
    spec = value_at(body, "spec") or {}
    yield from replicated_jobs(("spec",), spec)
    yield from _coordinator(spec)
    yield from pod_name_faults(
        str(value_at(body, "metadata", "name") or ""),
        [
            (
                str(job.get("name")),
                int(job.get("replicas") or 1),
                int(value_at(job, "template", "spec", "parallelism") or 1),
            )
            for job in mappings_at(spec, "replicatedJobs")
        ],
    )


def _coordinator(spec: Any) -> Iterator[Fault]:
    """The pod whose host all others are told is one of the set (validateCoordinator)."""
    said = value_at(spec, "coordinator")
    if not isinstance(said, dict):
        return
    here = ("spec", "coordinator")
    jobs = {str(job.get("name")): job for job in mappings_at(spec, "replicatedJobs")}
    name = said.get("replicatedJob")
    if name not in jobs:
        yield refused(
            (*here, "replicatedJob"),
            f"replicated job `{name}` is not one of this JobSet",
            help=nearest(str(name), jobs, "name one of its `replicatedJobs`"),
        )
        return
    job = jobs[name]
    pods = value_at(job, "template", "spec", "completions")
    if pods is None:
        message = (
            f"the pods of replicated job `{name}` have no numbers: its job has no `completions`"
        )
        yield refused((*here, "replicatedJob"), message, "write `completions` of its job")
    for key, count in (("jobIndex", job.get("replicas", 1)), ("podIndex", pods)):
        index = said.get(key, 0)
        if isinstance(index, int) and isinstance(count, int) and not 0 <= index < count:
            what = "jobs" if key == "jobIndex" else "pods"
            message = f"`{key}` is {index}, and `{name}` has {count} {what}"
            yield refused((*here, key), message, f"write a number below {count}")
