"""JobSet (jobset v0.12.0, pkg/webhooks/jobset_webhook.go)."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.output.body import at, items
from trainyard.output.manifest import Body
from trainyard.verify.fault import Fault
from trainyard.verify.names import pod_name_faults
from trainyard.verify.webhooks import Lookup
from trainyard.verify.webhooks._jobsets import replicated_jobs

GROUP = "jobset.x-k8s.io"


def check(body: Body, lookup: Lookup) -> Iterator[Fault]:
    spec = at(body, "spec") or {}
    yield from replicated_jobs(("spec",), spec)
    yield from pod_name_faults(
        str(at(body, "metadata", "name") or ""),
        [
            (
                str(job.get("name")),
                int(job.get("replicas") or 1),
                int(at(job, "template", "spec", "parallelism") or 1),
            )
            for job in items(spec, "replicatedJobs")
        ],
    )
