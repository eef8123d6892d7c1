"""What is said of a job, as values."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from trainyard.language.dataclass import dataclass


class Kind(StrEnum):
    """The four verdicts, and that there is none."""

    FITS = "FITS"
    ONLY_IF = "FITS ONLY IF"
    WAITS = "WAITS FOR"
    NEVER = "NEVER FITS"
    UNKNOWN = "NOT SIMULATED"


class Where(NamedTuple):
    """Pods of a job that would run in one place: the pool, its zone, and the domain of the topology below it, empty
    where there is none or it is not known yet."""

    pool: str
    zone: str
    domain: str
    pods: int
    nodes: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of a job if all jobs of its cluster are submitted at once.

    ``conditions``: of ``FITS ONLY IF`` what must hold, each a sentence. ``blockers``: of ``WAITS FOR`` the jobs without
    which it would fit, of which none could be left out; ``until``: the time after which it starts, in words, where that
    is known. ``conflict``: of ``NEVER FITS`` the constraints that exclude
    it, of which none could be left out. ``edits``: the smallest changes that were found to help, each tried out.
    ``pods``: so many of its pods are admitted. ``preempts``: jobs that were admitted before it and are ended for it.
    """

    job: str
    queue: str
    kind: Kind
    pods: int = 0
    where: tuple[Where, ...] = ()
    conditions: tuple[str, ...] = ()
    blockers: tuple[str, ...] = ()
    until: str = ""
    conflict: tuple[str, ...] = ()
    edits: tuple[str, ...] = ()
    preempts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Forecast:
    """The verdicts on all jobs of a cluster, in the order of their names, and what they rest on.

    ``waiting``: the jobs that are not admitted if they come as Flux creates them. ``settled``: false
    where jobs would preempt each other without an end.
    """

    cluster: str
    verdicts: tuple[Verdict, ...]
    notes: tuple[str, ...]
    waiting: tuple[str, ...] = ()
    settled: bool = True

    def of(self, kind: Kind) -> tuple[Verdict, ...]:
        """The verdicts of one kind."""
        return tuple(each for each in self.verdicts if each.kind is kind)
