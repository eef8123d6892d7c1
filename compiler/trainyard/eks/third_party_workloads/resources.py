"""The resource names of every kind of job, for kubectl commands."""

from __future__ import annotations

from collections.abc import Iterable

from trainyard.eks.jobs.kinds import kinds, kinds_of_eks

_OTHERS = (
    "cronjobs.batch",
    "jaxjobs.kubeflow.org",
    "jobs.batch.volcano.sh",
    "leaderworkersets.leaderworkerset.x-k8s.io",
    "paddlejobs.kubeflow.org",
    "rayservices.ray.io",
    "tfjobs.kubeflow.org",
    "xgboostjobs.kubeflow.org",
)
"""Kinds that are read only."""
_MADE = ("rayclusters.ray.io",)
"""Kinds that are read only, of which those of other kinds make some."""


def job_resources(operators: Iterable[str] = ()) -> tuple[str, ...]:
    """``resource.group`` of each kind of EKS, and of those of other platforms that these operators run; those that
    others make come last."""
    run = set(operators)
    known = list(kinds_of_eks().values())
    known += [kind for kind in kinds().values() if kind not in known and kind.operator in run]
    own = {f"{kind.plural}.{kind.group}": kind.made_by_others for kind in known}
    first = [name for name, is_made in own.items() if not is_made]
    last = [name for name, is_made in own.items() if is_made]
    return (*sorted((*first, *_OTHERS)), *sorted((*last, *_MADE)))
