"""What runs a job: on Kubernetes the kind of its object, elsewhere the scheduler."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar

from compiler.plan.units import Quantity

if TYPE_CHECKING:
    from compiler.core.jobs.job import Job


class Kind:
    """One way to run a job."""

    name: ClassVar[str]
    """What a spec calls it: ``kind`` of a job."""
    restarts_gang: ClassVar[bool] = False
    """Whether a failure of one node starts all of them again."""
    has_peers: ClassVar[bool] = True
    """Whether the nodes of a job talk to each other."""
    launcher: ClassVar[str] = "torchrun"
    """The launcher of a job that names none."""

    def nodes(self, job: Job) -> int:
        """The nodes of all its pods."""
        return job.spec.nodes

    def host(self, job: Job, name: str) -> str:
        """The host of the first node, as every node of the job knows it; ``name`` is that of the job's object."""
        raise NotImplementedError

    def taken(self, job: Job) -> Iterator[tuple[str, Mapping[str, Quantity]]]:
        """What else of the job runs on its nodes and takes from them: who, and CPU and memory."""
        yield from ()
