"""The labels by which a pod says of which run it is, which of its pods it is, and which attempt it belongs to.

They are those of the kinds of jobs that the cluster's platform has, whether or not the spec has jobs of them: a run
goes on after its job has left the spec, and people start jobs of their own.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from trainyard.eks.jobs.kind import JobKind
from trainyard.plan.context import Context

JOB_OF_RUN = "(.+?)(-[0-9a-f]{5}(-.+)?)?"
"""A whole name of a run, whose first group is the name of the job in the spec: a run's name ends in five digits that
its content gives, and what an operator adds."""


class PodLabels(NamedTuple):
    """Labels of pods. Of each there are several, since kinds differ; a pod has one of them at most.

    ``runs`` have the name of the run. ``shared`` have it too, unless the pod has one of ``runs``. ``ranks`` have the
    index of a pod among its like, ``roles`` which of a run's groups of pods it is in, ``attempts`` how often all pods
    were made again before this one.
    """

    runs: tuple[str, ...]
    shared: tuple[str, ...]
    ranks: tuple[str, ...]
    roles: tuple[str, ...]
    attempts: tuple[str, ...]


def pod_labels(context: Context) -> PodLabels:
    """The labels of the pods of jobs on the cluster."""
    known = (kind for kind in context.answers.kinds().values() if isinstance(kind, JobKind))
    return labels_of_kinds(known)


def labels_of_kinds(kinds: Iterable[JobKind]) -> PodLabels:
    """The labels that the controllers of some kinds give to pods."""
    placed = sorted(kinds, key=lambda kind: kind.place)
    all_pods = [kind.run_pods for kind in placed]
    return PodLabels(
        runs=_unique(pods.run for pods in all_pods if not pods.shared),
        shared=_unique(pods.run for pods in all_pods if pods.shared),
        ranks=_unique(pods.number for pods in all_pods),
        roles=_unique(pods.role for pods in all_pods),
        attempts=_unique(pods.attempt for pods in all_pods),
    )


def _unique(labels: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(label for label in labels if label))


def plain(label: str) -> str:
    """A label's name in letters, digits and `_`, as Prometheus has it by kube-state-metrics (v2.20.0,
    internal/store/utils.go), and Alloy."""
    return "".join(letter if letter.isalnum() else "_" for letter in label)
