"""The kinds whose pods do a job, as kubectl calls them: what must end before nodes can."""

from __future__ import annotations

from compiler.subjects.jobs.plan import JOB_KINDS
from compiler.subjects.workloads.lift import KINDS

_SERVING = ("", "apps")
_MADE_BY_OTHERS = ("jobsets", "raycluster", "jobs")
"""What a controller makes again while the object that it is made for is there."""


def job_resources() -> tuple[str, ...]:
    """Every kind of job that is written or read, as ``plural.group``; those that others make come last."""
    kinds = {f"{kind.group}/{kind.name}" for kind in JOB_KINDS.values()} | set(KINDS)
    resources = []
    for kind in kinds:
        group, _, name = kind.partition("/")
        if group not in _SERVING:
            resources.append(f"{name.lower()}s.{group}")
    return tuple(sorted(resources, key=_place))


def _place(resource: str) -> tuple[bool, str]:
    return resource.startswith(_MADE_BY_OTHERS), resource
