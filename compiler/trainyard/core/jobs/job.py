"""A job of the spec after binding, and what runs it: a kind of object on Kubernetes, a scheduler elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar

from trainyard.language.dataclass import dataclass

if TYPE_CHECKING:
    from trainyard.core.jobs import spec as spec_jobs
    from trainyard.core.pools.pools import Pool
    from trainyard.core.queues.queues import Queue
    from trainyard.language.places import Route
    from trainyard.language.units import Quantity


@dataclass(frozen=True, slots=True)
class Job:
    """A job of the spec with its pool, queue and namespace bound, and what runs it.

    ``waits``: for the first build of its image, so that it is checked and not written. ``image_torch`` and
    ``image_user``: the PyTorch of its image, and by number the user of its programs, where it is one of the spec.
    ``others`` are the pools that its queue tries after ``pool``, whose share is then the least of all.
    """

    spec: spec_jobs.Job
    at: Route
    pool: Pool
    queue: Queue
    namespace: str
    kind: Kind
    waits: bool = False
    image_torch: str | None = None
    image_user: int | None = None
    others: tuple[Pool, ...] = ()

    @property
    def pools(self) -> tuple[Pool, ...]:
        """The pools that it may run on, in the order in which they are tried."""
        return (self.pool, *self.others)

    @property
    def target(self) -> str:
        return f"job/{self.spec.name}"

    @property
    def has_peers(self) -> bool:
        """Whether its nodes, those of its roles too, talk to each other."""
        several = self.spec.nodes > 1 or bool(self.spec.roles)
        return several and self.kind.has_peers


@dataclass(frozen=True, slots=True)
class Unlike:
    """What would differ of a job on two pools: the field, what each has, and what makes it the same; empty where
    nothing does."""

    field: str
    first: object
    other: object
    help: str = ""


class Kind:
    """One way to run a job."""

    name: ClassVar[str]
    """What a spec calls it: ``kind`` of a job."""
    restarts_gang: ClassVar[bool] = False
    """Whether a failure of one node starts all of them again."""
    counts_each_try: ClassVar[bool] = False
    """Whether the time that a job may take begins again with each try."""
    leaves_broken_nodes: ClassVar[bool] = False
    """Whether a job is started again without the node whose hardware failed."""
    has_peers: ClassVar[bool] = True
    """Whether the nodes of a job talk to each other."""
    launcher: ClassVar[str] = "torchrun"
    """The launcher of a job that names none."""
    chooses: ClassVar[str] = "all nodes come from one of them"
    """Which of the pools of a job has its nodes, in words."""
    chooses_source: ClassVar[str] = ""
    """Where that stands."""
    pools_in_order: ClassVar[str] = ""
    """Why they are named in the order of the queue; empty where any order is the same."""
    port: ClassVar[str] = "29500"
    """The port at which the first node of a job waits for the others."""

    def nodes(self, job: Job) -> int:
        """The nodes of all its pods."""
        return job.spec.nodes

    def host(self, job: Job, name: str) -> str:
        """The host of the first node, as every node of the job knows it; ``name`` is that of the job's object."""
        raise NotImplementedError

    def unlike(self, job: spec_jobs.Job, first: Pool, other: Pool) -> Iterator[Unlike]:
        """What else differs on two pools of a job that may run on both."""
        yield from ()

    def taken(self, job: Job) -> Iterator[tuple[str, Mapping[str, Quantity]]]:
        """What else of the job runs on its nodes and takes from them: who, and CPU and memory."""
        yield from ()
