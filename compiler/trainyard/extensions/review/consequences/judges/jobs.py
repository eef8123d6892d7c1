"""Objects that run jobs, and the runtimes that TrainJobs name.

Sources: kustomize-controller v1.9.5 (an object that leaves git is deleted, unless an annotation keeps it); Trainer
2.3, TrainJob API (``runtimeRef`` and ``trainer`` are immutable). History keeps runs that were submitted as they are.
"""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.eks.jobs.kinds import kinds
from trainyard.extensions.forecast.change import Action, Consequence, Effect
from trainyard.extensions.review.edits.edit import Edit
from trainyard.extensions.review.edits.judge import Judge
from trainyard.output.fields import Steps

_FLUX = "kustomize-controller v1.9.5, docs/spec/v1/kustomizations.md"
_TRAINER = "Trainer 2.3, TrainJob API"


def _job(edit: Edit, steps: Steps) -> Effect | None:
    if edit.action is Action.ADDED:
        return Effect(Consequence.MOVES_JOBS, "a run joins the queue")
    if edit.action is Action.REMOVED:
        return Effect(Consequence.ENDS_JOBS, "Flux deletes it with its pods", _FLUX)
    if steps[:1] == ("spec",):
        return Effect(
            Consequence.ENDS_JOBS,
            "a run never changes: this one would have to be deleted and made again",
            _TRAINER,
            replaces=True,
        )
    return None


def _runtime(edit: Edit, steps: Steps) -> Effect | None:
    if edit.action is Action.ADDED:
        return Effect(Consequence.HARMLESS, "only runs that name it use it")
    if edit.action is Action.REMOVED:
        return Effect(
            Consequence.HARMLESS, "no run that goes on names it: history keeps what runs need"
        )
    return None


def _pods(edit: Edit, steps: Steps) -> Effect | None:
    """Workloads of others, which a spec includes: their controllers are not this compiler's."""
    if edit.action is Action.ADDED:
        return Effect(Consequence.MOVES_JOBS, "its pods are created, and may be queued")
    if edit.action is Action.REMOVED:
        return Effect(Consequence.ENDS_JOBS, "Flux deletes it with its pods", _FLUX)
    if steps[:1] == ("spec",):
        return Effect(Consequence.UNKNOWN, "its controller decides whether its pods restart")
    return None


_THIRD_PARTY = (
    *("Pod", "CronJob.batch", "LeaderWorkerSet.leaderworkerset.x-k8s.io"),
    *(
        "TFJob.kubeflow.org",
        "XGBoostJob.kubeflow.org",
        "PaddleJob.kubeflow.org",
        "JAXJob.kubeflow.org",
    ),
    *("RayCluster.ray.io", "RayService.ray.io", "Job.batch.volcano.sh"),
)


def _kinds() -> dict[str, Judge]:
    found: dict[str, Judge] = dict.fromkeys(_THIRD_PARTY, _pods)
    for kind in kinds().values():
        found[f"{kind.kind}.{kind.group}"] = _job
    for name in ("ClusterTrainingRuntime", "TrainingRuntime"):
        found[f"{name}.trainer.kubeflow.org"] = _runtime
    return found


KINDS: Mapping[str, Judge] = _kinds()
