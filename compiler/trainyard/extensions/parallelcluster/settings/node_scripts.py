"""What nodes run when they are set up."""

from __future__ import annotations

from trainyard.language.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class NodeScript:
    """A script that nodes run, by its place, and its arguments."""

    place: str
    args: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NodeScripts:
    """What nodes run: before anything of them is set up (``start``), and once they are (``configured``)."""

    start: tuple[NodeScript, ...] = ()
    configured: tuple[NodeScript, ...] = ()
