"""The labels by which a pod says of which run it is, which of its pods it is, and which attempt it belongs to.

Sources: jobset v0.12.0, api/jobset/v1alpha2/jobset_types.go and pkg/constants/constants.go (08dfbdfd);
training-operator v1.9.4, pkg/apis/kubeflow.org/v1/common_types.go; mpi-operator v0.8.2,
pkg/apis/kubeflow/v2beta1/constants.go; kuberay v1.6.2, ray-operator/controllers/ray/utils/constant.go; Kubernetes,
labels of Jobs (`batch.kubernetes.io/…`).
"""

from __future__ import annotations

RUNS = ("jobset.sigs.k8s.io/jobset-name", "training.kubeflow.org/job-name", "ray.io/cluster")
"""The label that has the name of a run: of JobSets and TrainJobs, of MPIJobs and PyTorchJobs, and of RayJobs."""
PLAIN_RUN = "batch.kubernetes.io/job-name"
"""That of a plain Job. Pods of a JobSet have it too, with the name of one of its Jobs."""
JOB_OF_RUN = "(.+?)(-[0-9a-f]{5}(-.+)?)?"
"""A whole name of a run, whose first group is the name of the job in the spec: a run's name ends in five digits that
its content gives, and what an operator adds."""
RANKS = ("batch.kubernetes.io/job-completion-index", "training.kubeflow.org/replica-index")
"""The label that has the index of a pod among its like: of Jobs, JobSets and TrainJobs (Kubernetes 1.28 and newer), and
of the training and the MPI operator. Pods of Ray have none."""
ROLES = (
    "jobset.sigs.k8s.io/replicatedjob-name",
    "training.kubeflow.org/replica-type",
    "ray.io/node-type",
)
"""The label that has which of a run's groups of pods it is in."""
ATTEMPT = "jobset.sigs.k8s.io/restart-attempt"
"""How often a JobSet had made all its pods again before this one; other kinds do not count attempts on pods."""


def plain(label: str) -> str:
    """A label's name in letters, digits and `_`, as Prometheus and Alloy have it."""
    return "".join(letter if letter.isalnum() else "_" for letter in label)
