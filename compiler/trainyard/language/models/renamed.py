"""Keys of the spec that had another name before, and what they are called now. ``trainyard fmt --fix`` renames them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_JOB = {
    "apiGroup": "kind",
    "done": "completed",
    "gracePeriod": "terminationGracePeriod",
    "retries.job": "retries",  # first: what it is called now is the mapping of both before
    "retries.process": "maxRestarts",
    "secrets": "secretEnv",
    "torch": "torchVersion",
}
RENAMED: Mapping[str, Mapping[str, str]] = {
    "": {"endedRuns": "completedRuns"},
    "health": {
        "monitoringAgent": "nodeMonitoringAgent",
        "problemDetector": "nodeProblemDetector",
        "repair": "nodeRepair",
    },
    "jobDefaults": _JOB,
    "jobs[]": _JOB,
    "nodePools[]": {"sharing": "gpuSharing"},
}
"""For each mapping of the spec, by its path from ``spec``: its former keys, and what each is called."""

KIND_OF_GROUP = {
    "trainer.kubeflow.org": "TrainJob",
    "kubeflow.org": "PyTorchJob",
    "jobset.x-k8s.io": "JobSet",
    "batch": "Job",
    "ray.io": "RayJob",
}
"""The kind that ``apiGroup`` of a job meant; with the launcher ``mpi`` or ``ncclTest``, ``kubeflow.org`` was MPIJob."""


def renamed(section: str, key: str) -> str:
    """What a former key of a mapping is called now; empty for one that has always had its name."""
    return RENAMED.get(section, {}).get(key, "")


def as_before(job: Mapping[str, Any]) -> dict[str, Any]:
    """The words of a job under their former names, by which runs were noted: a key that is renamed asks for no other
    run."""
    words = dict(job)
    for former, name in _JOB.items():
        if name not in words:
            continue
        outer, _, inner = former.partition(".")
        if inner and isinstance(words[name], dict):
            continue  # as it was written before
        value = words.pop(name)
        if former == "apiGroup":
            value = _GROUP_OF_KIND.get(value, value)
        if inner:
            parts = words.get(outer)
            words[outer] = {**(parts if isinstance(parts, dict) else {}), inner: value}
        else:
            words[former] = value
    return words


_GROUP_OF_KIND = {
    **{kind: group for group, kind in KIND_OF_GROUP.items()},
    "MPIJob": "kubeflow.org",
}
