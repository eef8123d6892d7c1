"""What people or CI run to make, to use and to take down a cluster of ParallelCluster."""

from __future__ import annotations

from typing import ClassVar

from trainyard.language.dataclass import dataclass
from trainyard.plan.base import PlanItem


@dataclass(frozen=True, slots=True, kw_only=True)
class SlurmBootstrap(PlanItem):
    """What its scripts and its page say. ``user``: the first user of the head node, by its operating system."""

    carried: ClassVar[bool] = False
    single: ClassVar[bool] = True

    cluster: str
    region: str
    account: str
    partition: str
    path: str
    version: str
    user: str
    bucket: str
    accounting: bool = False
    budget: bool = False
    apparmor: bool = False
    key_name: str | None = None
