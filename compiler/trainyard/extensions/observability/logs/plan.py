"""Logs: the store in AWS, and what it is expected to hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, ClassVar

from trainyard.core.storage.plan import MadeBucket
from trainyard.language.dataclass import dataclass
from trainyard.language.units import Quantity
from trainyard.plan.base import PlanItem


@dataclass(frozen=True, slots=True, kw_only=True)
class LogBucket(PlanItem):
    """Who may keep lines in which bucket: ``trust`` is that of the role, ``key`` the KMS key that encrypts the objects,
    ``made`` the bucket where the bootstrap makes it. A stack of its own says it."""

    carried: ClassVar[bool] = False
    single: ClassVar[bool] = True

    cluster: str
    bucket: str
    partition: str
    namespace: str
    service_account: str
    trust: Mapping[str, Any]
    key: str | None = None
    made: MadeBucket | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LogGroup(PlanItem):
    """A log group of CloudWatch, and the role of who writes to it: ``trust`` is that of the role, ``key`` the KMS key
    that encrypts it. ``days``: how long lines are kept."""

    carried: ClassVar[bool] = False
    single: ClassVar[bool] = True

    cluster: str
    group: str
    arn: str
    days: int
    namespace: str
    service_account: str
    trust: Mapping[str, Any]
    key: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSize(PlanItem):
    """What is expected of logs, for the report: pods of jobs and others, what is written a day and kept, and how
    long."""

    carried: ClassVar[bool] = False
    single: ClassVar[bool] = True

    working: int
    others: int
    per_pod: Quantity
    a_day: Quantity
    kept: Quantity
    retention: str
