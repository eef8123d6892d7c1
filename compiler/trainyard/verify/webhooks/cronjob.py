"""CronJob (k8s.io/kubernetes v1.36, pkg/apis/batch/validation)."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.output.body import value_at
from trainyard.output.manifest import Body
from trainyard.verify.fault import Fault, refused
from trainyard.verify.webhooks import Lookup
from trainyard.verify.webhooks.job import job_spec

GROUP = "batch"


def check(body: Body, lookup: Lookup) -> Iterator[Fault]:
    yield from job_spec(
        ("spec", "jobTemplate", "spec"), value_at(body, "spec", "jobTemplate", "spec") or {}
    )
    schedule = str(value_at(body, "spec", "schedule"))
    if "TZ=" in schedule:
        yield refused(
            ("spec", "schedule"), "the schedule names a time zone", "name it in `timeZone`"
        )
