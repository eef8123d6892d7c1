"""A job of the spec, bound to its pool, queue and namespace."""

from __future__ import annotations

from compiler.core.jobs import spec as spec_jobs
from compiler.core.jobs.kind import Kind
from compiler.core.pools.pools import Pool
from compiler.core.queues.queues import Queue
from compiler.dataclass import dataclass
from compiler.places import Route


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
