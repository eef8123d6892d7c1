"""What one change means: values that reports and commands show."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, NamedTuple

from trainyard.language.dataclass import dataclass


class Consequence(StrEnum):
    """What may follow from a merge, the worst first. The words are those of the report and of JSON."""

    ENDS_JOBS = "ends running jobs"
    DESTROYS_DATA = "destroys data"
    REPLACES_NODES = "replaces nodes"
    MOVES_JOBS = "moves jobs in the queue"
    COST = "changes cost or quota"
    ACCESS = "lets somebody in or out"
    CONTROLLERS = "changes controllers"
    UNKNOWN = "not known"
    HARMLESS = "harmless"

    @property
    def rank(self) -> int:
        """Its place in the order; 0 is the worst."""
        return list(Consequence).index(self)


class Action(StrEnum):
    """What is done to an object, with the sign that stands before it."""

    ADDED = "+"
    CHANGED = "~"
    REMOVED = "-"
    REPLACED = "-/+"

    @property
    def word(self) -> str:
        """``added``, ``changed``, …"""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Effect:
    """A consequence, why in a clause, and where that is documented. ``replaces``: what exists gives way to a new one,
    since the field cannot change."""

    consequence: Consequence
    why: str
    source: str = ""
    replaces: bool = False


class Place(NamedTuple):
    """A line of a file; ``base``: as it is in the earlier revision."""

    file: str
    line: int
    column: int
    base: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A field that differs: its path, its values (``ABSENT`` where it has none), and the line that causes it."""

    path: str
    before: Any
    after: Any
    at: Place | None
    replaces: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What is done to an object, as far as it has one consequence.

    ``object``: ``NodePool/h100``, ``AWS::S3::Bucket Bucket``, or a file; ``kind`` names its judge. ``file``: the path
    in the cluster's folder, empty for a job of the simulation. ``fields``: none of what is added or removed whole.
    """

    action: Action
    effect: Effect
    object: str
    kind: str
    file: str
    at: Place | None
    fields: tuple[Field, ...] = ()

    @property
    def is_part(self) -> bool:
        """Whether it is of one of several things in its file, whose name says nothing without it."""
        return " " in self.object and bool(self.file)

    @property
    def consequence(self) -> Consequence:
        """What may follow."""
        return self.effect.consequence
