"""Shares of the machines."""

from __future__ import annotations

from typing import ClassVar

from trainyard.core.queues.plan import Queue
from trainyard.language.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RackQueue(Queue):
    """A share of the machines, which somebody minds."""

    carried: ClassVar[bool] = False
