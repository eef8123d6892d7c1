"""Nodes as squares of an SVG: those of one job are one path."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from typing import NamedTuple

COLUMNS = 32
MOST = 256
"""Squares that are drawn at most; of a larger pool each stands for several nodes."""
SIDE, STEP = 9, 11
FREE = "free"


class Path(NamedTuple):
    """Squares of one kind: the class of the path, and its outline as SVG has it."""

    kind: str
    outline: str


class Squares(NamedTuple):
    """A drawing, of so many units, and how many nodes a square of it stands for."""

    width: int
    height: int
    each: int
    paths: tuple[Path, ...]


def squares(taken: Sequence[tuple[int, str]], most: int) -> Squares:
    """The nodes of a pool of ``most``: first so many of each kind, then those that are free."""
    nodes = max(most, sum(count for count, _ in taken), 1)
    each = -(-nodes // MOST)
    kinds = list(_kinds(taken, nodes, each))
    columns = min(COLUMNS, len(kinds))
    rows = -(-len(kinds) // columns)
    gap = STEP - SIDE
    outlines: dict[str, list[str]] = {}
    for number, kind in enumerate(kinds):
        row, column = divmod(number, columns)
        outlines.setdefault(kind, []).append(_square(column * STEP, row * STEP))
    paths = tuple(Path(kind, "".join(outline)) for kind, outline in outlines.items())
    return Squares(columns * STEP - gap, rows * STEP - gap, each, paths)


def _kinds(taken: Iterable[tuple[int, str]], nodes: int, each: int) -> Iterator[str]:
    """The kind of each square. One that stands for several nodes has that of the first."""
    all_kinds = [kind for count, kind in taken for kind in repeat(kind, count)]
    all_kinds += repeat(FREE, nodes - len(all_kinds))
    yield from all_kinds[::each]


def _square(x: int, y: int) -> str:
    return f"M{x} {y}h{SIDE}v{SIDE}h-{SIDE}z"
