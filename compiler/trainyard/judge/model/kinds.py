"""What is known of kinds of jobs, looked up by an object's ``kind``."""

from __future__ import annotations

from trainyard.eks.jobs.kinds import kinds
from trainyard.eks.kueue.plan import INTEGRATIONS

_READ_ONLY = {name.rpartition("/")[2]: name for name in INTEGRATIONS if name != "pod"}
"""What Kueue calls the kinds that it manages, by their names in lower case. A ``Pod`` is left out: several integrations
make Kueue manage it."""


def framework_of(kind: str) -> str | None:
    """What Kueue calls a kind in ``integrations.frameworks``; ``None`` for one that it does not queue."""
    known = kinds().get(kind)
    return known.framework if known else _READ_ONLY.get(kind.lower())


def is_never_queued(kind: str) -> bool:
    """Whether jobs of a kind of the spec cannot be managed by Kueue."""
    known = kinds().get(kind)
    return known is not None and known.framework is None


def is_restarted_by_operator(kind: str) -> bool:
    """Whether an operator of its own decides which pods of a kind start again, and not their Job."""
    known = kinds().get(kind)
    return known is not None and bool(known.operator)


_LIMITED = ("TFJob", "JAXJob")
"""Of kinds that are read only, those whose ``backoffLimit`` counts."""


def says_restarts(kind: str) -> bool:
    """Whether objects of a kind say themselves how often all their pods start again."""
    known = kinds().get(kind)
    if known is None:
        return kind in _LIMITED
    return bool(known.retries) and known.has_peers


def counts_pods(kind: str) -> bool:
    """Whether that number is of the restarts of all pods (training-operator v1.9.4, PastBackoffLimit)."""
    known = kinds().get(kind)
    return kind in _LIMITED if known is None else known.counts_pods


_STARTERS = ("mpi", "ray")


def starter_of(kind: str) -> str | None:
    """What starts the processes of every job of a kind: MPI or Ray; ``None`` where its command does."""
    known = kinds().get(kind)
    starter = known.launcher if known else None
    return starter if starter in _STARTERS else None


def has_peers(kind: str) -> bool:
    """Whether the nodes of a kind talk to each other, so that one that fails stops all."""
    known = kinds().get(kind)
    return known is None or known.has_peers
