"""The subject of a report: the cluster, its plan and what was committed."""

from __future__ import annotations

from collections.abc import Sequence

from trainyard.catalog import VersionStep
from trainyard.core.jobs.plan import Gang
from trainyard.eks.kueue.plan import LocalQueue
from trainyard.extensions.forecast.change import Change
from trainyard.extensions.forecast.planned import PlannedCluster
from trainyard.judge.model.reading import Reading
from trainyard.language.dataclass import dataclass
from trainyard.language.diagnostics import Diagnostic
from trainyard.output.manifest import Manifest
from trainyard.plan.features import Platform
from trainyard.run.history import Run


@dataclass(frozen=True, slots=True)
class Subject(PlannedCluster):
    """A planned cluster with its objects, what was found, its runs, and how its files differ from the committed ones.

    ``added``, ``changed`` and ``removed`` are paths in the cluster's folder; ``merge``: what the changes mean, the
    worst first; ``steps`` are the versions that differ. ``before``: the same cluster as another folder has it
    committed, where that is asked for; ``without_before``: why it is not known.
    """

    name: str
    platform: Platform
    reading: Reading
    manifests: Sequence[Manifest] = ()
    findings: Sequence[Diagnostic] = ()
    runs: Sequence[Run] = ()
    added: Sequence[str] = ()
    changed: Sequence[str] = ()
    removed: Sequence[str] = ()
    steps: Sequence[VersionStep] = ()
    merge: Sequence[Change] = ()
    before: Subject | None = None
    without_before: str = ""

    @property
    def edited(self) -> bool:
        """Whether its files differ from the committed ones."""
        return bool(self.added or self.changed or self.removed)

    def jobs(self) -> dict[tuple[str, str], list[Gang]]:
        """The jobs by the queue that admits them and the pool that they land on."""
        jobs: dict[tuple[str, str], list[Gang]] = {}
        for work in self.reading.works:
            queue = work.queue.name if work.queue is not None else self.queue_of(work.job)
            jobs.setdefault((queue, work.job.pool), []).append(work.job)
        return jobs

    def queue_of(self, job: Gang) -> str:
        """The queue of a job, by its name in the spec; empty where it has none."""
        return self._behind(job) or job.queue or ""

    def _behind(self, job: Gang) -> str | None:
        """The queue that a job's LocalQueue belongs to."""
        local = self.plan.named(LocalQueue, job.queue, job.namespace)
        return local.cluster_queue if local is not None else None
