"""What a platform is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from compiler.plan import PlanNode
from compiler.resolve.context import Context


class Subject(Protocol):
    """The module ``resolve`` of a subject."""

    def resolve(self, context: Context) -> Iterable[PlanNode]:
        """The nodes that the subject adds to the plan; faults are reported to the context."""
        ...


@dataclass(frozen=True)
class Platform:
    """A platform: its key in ``spec.platform``, and its subjects in the order in which they report."""

    name: str
    subjects: tuple[Subject, ...]
