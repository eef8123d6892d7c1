"""Accounts of Slurm: what a queue may have at once, and its priorities."""

from __future__ import annotations

from typing import ClassVar

from trainyard.core.queues.plan import Queue
from trainyard.language.dataclass import dataclass
from trainyard.plan.base import PlanItem


@dataclass(frozen=True, slots=True, kw_only=True)
class SlurmQueue(Queue):
    """A queue of the spec, as quotas of nodes by partition. Without accounting its partitions are its own, and nothing
    but their sizes carries it."""

    carried: ClassVar[bool] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Account(PlanItem):
    """An account: its jobs have ``most`` nodes at once, ``None`` is no limit, and ``share`` is its weight among others.

    ``queue``: that of the spec whose nodes they are. Scripts carry it, which are not read back.
    """

    carried: ClassVar[bool] = False

    name: str
    queue: str
    share: int
    most: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Qos(PlanItem):
    """A quality of service: a priority of jobs. Scripts carry it, which are not read back."""

    carried: ClassVar[bool] = False

    name: str
    priority: int
    description: str = ""
