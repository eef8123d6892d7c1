"""The pods of a run, by the labels that the controller of its kind gives them.

Sources: jobset v0.12.0, api/jobset/v1alpha2 (keys of labels); batch/v1 of Kubernetes 1.36, the pod index label;
training-operator v1.9.4, pkg/apis/kubeflow.org/v1; mpi-operator v0.8.2, pkg/apis/kubeflow/v2beta1; kuberay v1.6.2,
controllers/ray/utils/constant.go. Those of the first two are observed with Trainer 2.3.0 too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from trainyard.core.pods.plan import INITIALIZERS

_INDEX = "batch.kubernetes.io/job-completion-index"


class RunPods(NamedTuple):
    """How the pods of a kind are labelled.

    ``run`` is the label with the name of the run, or with the value that stands at ``named_at`` of its object. ``role``
    is the label with the part that a pod is of, where there are several, and ``number`` the one with its number in it.
    ``beside`` are parts whose pods are no nodes of the job, and ``ranked`` those whose pods have ranks, the numbers of
    the nodes from 0 on: where there are two, the first is one pod, of rank 0. ``through``: the numbers go on from it.
    ``attempt`` is the label with how often all pods were made again before. ``shared``: pods of other kinds have the
    label ``run`` too, with another value.
    """

    run: str
    role: str = ""
    number: str = ""
    named_at: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    ranked: tuple[str, ...] = ()
    through: bool = False
    attempt: str = ""
    shared: bool = False

    def part(self, labels: Mapping[str, str]) -> str:
        """The part that a pod is of; empty where the pods are of one part."""
        return labels.get(self.role, "") if self.role else ""

    def is_node(self, labels: Mapping[str, str]) -> bool:
        """Whether a pod is a node of the job, or of one of its roles."""
        return self.part(labels) not in self.beside

    def rank(self, labels: Mapping[str, str], parts: frozenset[str]) -> int | None:
        """The rank of a pod of a run that has pods of these parts; ``None`` for one that has no rank."""
        part = self.part(labels)
        own = labels.get(self.number, "0")
        if not self.number or not own.isdecimal() or (self.ranked and part not in self.ranked):
            return None
        is_later = part in self.ranked[1:] and self.ranked[0] in parts
        return int(own) + (is_later and not self.through)


OF_JOBSET = RunPods(
    "jobset.sigs.k8s.io/jobset-name",
    role="jobset.sigs.k8s.io/replicatedjob-name",
    number=_INDEX,
    beside=INITIALIZERS,
    ranked=("launcher", "node"),
    attempt="jobset.sigs.k8s.io/restart-attempt",
)
"""Trainer's launcher of MPI is a node itself (``runLauncherAsNode``)."""
OF_JOB = RunPods("batch.kubernetes.io/job-name", number=_INDEX, shared=True)
"""Of a batch Job: one with a single pod has no number. Pods of a JobSet have the name of one of its Jobs."""
OF_PYTORCH_JOB = RunPods(
    "training.kubeflow.org/job-name",
    role="training.kubeflow.org/replica-type",
    number="training.kubeflow.org/replica-index",
    ranked=("master", "worker"),
)
OF_MPI_JOB = OF_PYTORCH_JOB._replace(
    role="training.kubeflow.org/job-role", ranked=("launcher", "worker"), through=True
)
"""The launcher is a node itself (``runLauncherAsWorker``), so workers are numbered from 1 on."""
OF_RAY_JOB = RunPods(
    "ray.io/cluster",
    role="ray.io/node-type",
    named_at=("status", "rayClusterName"),
    beside=("head",),
)
"""Ray gives its ranks itself, so the pods of its workers have none."""
