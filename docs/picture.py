"""Draws docs/architecture.svg, from the imports and the ``NEEDS`` of the tree: ``make picture``.

The kernel's packages stand in the order in which data flows: each below what it imports. Lines of code are rounded, and
``tests/test_picture.py`` lets them differ a little, so that not every commit draws anew.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from html import escape
from itertools import pairwise
from pathlib import Path

from trainyard.plan.features import extensions, needs

PICTURE = Path(__file__).with_name("architecture.svg")
PACKAGE = Path(__file__).parents[1] / "compiler" / "trainyard"
_IMPORTED = re.compile(r"^\s*(?:from|import) trainyard\.(\w+)", re.MULTILINE)

WIDTH = 1100
SIDE, MIDDLE = 240, 420  # of a box: an extension's, and a row of the kernel's
LEFT, KERNEL, RIGHT = 50, 340, 810
TOP, HEIGHT, GAP = 66, 48, 18
BAR = 180  # of the largest
NEED, FLOW, QUIET = "#b45309", "#1d4ed8", "#64748b"


@cache
def kernel() -> tuple[str, ...]:
    """The kernel's packages."""
    folders = (path.parent.name for path in PACKAGE.glob("*/__init__.py"))
    return tuple(sorted(name for name in folders if name != "extensions"))


def _folder(name: str) -> Path:
    return PACKAGE / name if name in kernel() else PACKAGE / "extensions" / name


@cache
def _texts(name: str) -> tuple[str, ...]:
    files = sorted(_folder(name).rglob("*.py"))
    return tuple(path.read_text(encoding="utf-8") for path in files)


def sizes() -> dict[str, int]:
    """The lines of each package and extension, without blank ones, in hundreds."""
    return {
        name: round(
            sum(1 for text in _texts(name) for line in text.splitlines() if line.strip()), -2
        )
        for name in (*kernel(), *extensions())
    }


def imports(name: str) -> set[str]:
    """The packages of the kernel that a package imports."""
    found = {imported for text in _texts(name) for imported in _IMPORTED.findall(text)}
    return found & set(kernel()) - {name}


@cache
def _rank(name: str) -> int:
    return max((1 + _rank(each) for each in imports(name)), default=0)


def rows() -> list[list[str]]:
    """The kernel's packages, each row importing the one above."""
    ranks: dict[int, list[str]] = {}
    for name in kernel():
        ranks.setdefault(_rank(name), []).append(name)
    return [ranks[rank] for rank in sorted(ranks)]


def columns() -> tuple[list[str], list[str]]:
    """Extensions that need each other on the left, what is needed below the first that needs it; the others."""
    left: list[str] = []
    for name, module in extensions().items():
        for each in (name, *sorted(needs(module))) if needs(module) else ():
            if each not in left:
                left.append(each)
    others = [name for name in extensions() if name not in left]
    while len(others) > len(left) + 1:
        left.append(others.pop(0))
    return left, others


def words(name: str) -> str:
    """What it is: its docstring up to the first colon or stop."""
    text = (_folder(name) / "__init__.py").read_text(encoding="utf-8")
    docstring = ast.get_docstring(ast.parse(text)) or ""
    return re.split(r"[:;.](?:\s|$)", " ".join(docstring.split()), maxsplit=1)[0]


def drawn(lines: Mapping[str, int]) -> str:
    """The picture, with so many lines of each."""
    return "\n".join(_drawn(lines)) + "\n"


def _drawn(lines: Mapping[str, int]) -> Iterator[str]:
    middle = rows()
    bottom = TOP + len(middle) * (HEIGHT + GAP) - GAP
    height = bottom + 70
    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}"'
    yield '  font-family="Helvetica, Arial, sans-serif" font-size="12" fill="#0f172a">'
    yield f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>'
    yield from (_marker(colour) for colour in (FLOW, NEED, QUIET))
    yield f'<rect x="{KERNEL - 20}" y="20" width="{MIDDLE + 40}" height="{bottom}" rx="12" fill="#eff6ff"/>'
    yield _text(KERNEL, 48, f"kernel: {sum(lines[name] for name in kernel()):,} lines", "bold")
    places: dict[str, tuple[int, int, int]] = {}
    for index, row in enumerate(middle):
        width = (MIDDLE - (len(row) - 1) * GAP) // len(row)
        for number, name in enumerate(row):
            x = KERNEL + number * (width + GAP)
            places[name] = (x, TOP + index * (HEIGHT + GAP), width)
    for x, column in zip((LEFT, RIGHT), columns(), strict=True):
        step = (bottom - TOP) // len(column)
        for index, name in enumerate(column):
            places[name] = (x, TOP + index * step + (step - HEIGHT) // 2, SIDE)
    yield from _flows(middle, places)
    yield from _needs(places)
    scale = BAR / max(lines.values())
    for name, place in places.items():
        yield from _box(name, place, lines[name], round(lines[name] * scale))
    total = sum(lines[name] for name in extensions())
    yield _text(LEFT, 48, f"extensions: {total:,} lines", "bold")
    yield from _legend(bottom + 48)
    yield "</svg>"


def _flows(middle: list[list[str]], places: Mapping[str, tuple[int, int, int]]) -> Iterator[str]:
    """Between neighbours of the kernel, and from each extension to it."""
    for above, below in pairwise(middle):
        for name in above:
            for other in below:
                x, y, width = places[name]
                to_x, to_y, to_width = places[other]
                narrow = min((width, x), (to_width, to_x))
                centre = narrow[1] + narrow[0] // 2
                yield _line(f"M{centre} {y + HEIGHT}V{to_y - 2}", FLOW)
    for name in extensions():
        x, y, width = places[name]
        centre = y + HEIGHT // 2
        start, end = (x + width, KERNEL - 22) if x < KERNEL else (x, KERNEL + MIDDLE + 22)
        yield _line(f"M{start} {centre}H{end}", QUIET)


def _needs(places: Mapping[str, tuple[int, int, int]]) -> Iterator[str]:
    for name, module in extensions().items():
        for needed in sorted(needs(module)):
            x, y, _ = places[name]
            _, to_y, _ = places[needed]
            start, middle = y + HEIGHT // 2, to_y + HEIGHT // 2
            end = middle - 8 if start < middle else middle + 8
            yield _line(f"M{x} {start}C{x - 36} {start} {x - 36} {end} {x - 2} {end}", NEED)


def _box(name: str, place: tuple[int, int, int], lines: int, bar: int) -> Iterator[str]:
    x, y, width = place
    yield f"<g><title>{name}: {lines} lines</title>"
    yield f'<rect x="{x}" y="{y}" width="{width}" height="{HEIGHT}" rx="6" fill="#ffffff" stroke="#94a3b8"/>'
    yield f'<rect x="{x + 10}" y="{y + HEIGHT - 6}" width="{bar}" height="3" fill="#93c5fd"/>'
    yield _text(x + 10, y + 18, name, "bold")
    yield f'<text x="{x + width - 10}" y="{y + 18}" text-anchor="end" fill="{QUIET}">{lines:,}</text>'
    yield _text(x + 10, y + 34, words(name), "normal", size=11)
    yield "</g>"


def _legend(y: int) -> Iterator[str]:
    for x, colour, meaning in (
        (LEFT, FLOW, "data flows; what stands above is imported"),
        (KERNEL, QUIET, "extensions import the kernel, and it imports none of them"),
        (RIGHT, NEED, "an extension needs another one"),
    ):
        yield _line(f"M{x} {y - 4}H{x + 24}", colour)
        yield _text(x + 34, y, meaning, "normal", size=11)


def _text(x: int, y: int, text: str, weight: str, size: int = 13) -> str:
    return f'<text x="{x}" y="{y}" font-weight="{weight}" font-size="{size}">{escape(text)}</text>'


def _line(path: str, colour: str) -> str:
    marker = f"url(#{colour[1:]})"
    return (
        f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.5" marker-end="{marker}"/>'
    )


def _marker(colour: str) -> str:
    return (
        f'<marker id="{colour[1:]}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        f'<path d="M0 0L8 4L0 8z" fill="{colour}"/></marker>'
    )


def main() -> None:
    """Write the picture."""
    PICTURE.write_text(drawn(sizes()), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
