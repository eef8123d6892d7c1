"""Third-party objects with pods: any workload of Kubernetes that Trainyard did not write."""

from __future__ import annotations

from trainyard.core.pods.plan import Container, Pod
from trainyard.language.dataclass import dataclass
from trainyard.plan.base import PlanItem


@dataclass(frozen=True, slots=True, kw_only=True)
class PodSet(PlanItem):
    """Pods of one template. ``name`` is that of the part, empty where there is one; ``count`` how many there are at
    once, ``None`` where that is unknown; ``beside``: they are no nodes of the training, as those of a launcher or a
    head are none. So many of them as ``backoff_limit`` may fail, where a Job has them."""

    name: str
    pod: Pod
    count: int | None = None
    beside: bool = False
    backoff_limit: int | None = None

    def has(self, container: Container | None) -> bool:
        """Whether a container is one of its pods'."""
        return any(own is container for own in self.pod.containers)


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload(PlanItem):
    """An object with pods. ``kind`` is what a spec calls it, or ``kind.group`` where a spec means another kind by its
    bare kind. ``nodes`` is how many pods belong together, ``None`` where they need not; it may start with
    the ``least`` of them, where that is said. It is ended after ``deadline`` seconds. ``everywhere``: it runs on every
    node. ``processes`` of each node, ``suspend`` and ``managed_by`` are what the object says itself. It is started
    again as often as ``max_restarts``, by a ``strategy``, where the object says it. ``program``: what runs its
    program, where that is in none of its nodes."""

    kind: str
    name: str
    namespace: str
    pods: tuple[PodSet, ...]
    queue: str | None = None
    nodes: int | None = None
    least: int | None = None
    deadline: int | None = None
    everywhere: bool = False
    processes: int | str | None = None
    suspend: bool | None = None
    managed_by: str | None = None
    max_restarts: int | None = None
    strategy: str = ""
    program: Container | None = None

    def part_of(self, pod: Pod | None) -> PodSet | None:
        """The pods of a template."""
        return next((part for part in self.pods if part.pod is pod), None)


def is_job(kind: str) -> bool:
    """Whether a kind is one of jobs, which end: TrainJob, Job, PyTorchJob, JobSet, also of another API group."""
    bare, _, _ = kind.partition(".")
    return bare.endswith(("Job", "JobSet"))


def titled(kind: str, name: str) -> str:
    """An object in a sentence: ``job `llama```, or with its kind if that is none of jobs."""
    return f"{'job' if is_job(kind) else kind} `{name}`"
