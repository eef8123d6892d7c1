"""Text for people, in the form of rustc: fact, place, line with a caret, notes, help.

The layout follows the Rust compiler's (rustc-dev-guide, "Diagnostic structure").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple
from unicodedata import category, east_asian_width

from trainyard.language.diagnostics.diagnostic import Diagnostic
from trainyard.language.diagnostics.sealed import line_of
from trainyard.language.diagnostics.secrets import masked
from trainyard.language.places import Span

WIDTH = 140
"""Longest source line shown in full, in columns of a terminal; longer ones are cut around the caret."""

_REACH = 4 * WIDTH
"""Characters of a line that are looked at on either side of a mark."""

_TAB = 4
_COLON = re.compile(r"\s*:\s*")
_STYLES = {
    "error": "1;31",
    "warning": "1;33",
    "note": "1;36",
    "bold": "1",
    "frame": "1;34",
    "help": "1;32",
}

Paint = Callable[[str, str], str]


def render(diagnostics: Sequence[Diagnostic], *, tool_version: str, color: bool = False) -> str:
    """One block a diagnostic, an empty line between two."""
    paint = painter(color=color)
    blocks = [_block(item, paint) for item in diagnostics]
    texts = ["\n".join(block) + "\n" for block in blocks]
    return "\n".join(texts)


def details(item: Diagnostic) -> Iterator[str]:
    """Everything that a diagnostic says in addition to its fact, a line each, for formats without places."""
    if item.label:
        yield item.label
    if item.object:
        yield f"in {item.object}"
    yield from (f"note: {note}" for note in item.notes)
    for place, label in item.related:
        yield f"{place}: {label}"
    if item.help:
        yield f"help: {item.help}"


def painter(*, color: bool) -> Paint:
    """What gives a text a style, or leaves it as it is."""
    return _colored if color else _plain


def _plain(text: str, style: str) -> str:
    return text


def _colored(text: str, style: str) -> str:
    return f"\x1b[{_STYLES[style]}m{text}\x1b[0m"


class _Pointer(NamedTuple):
    """How an excerpt points at its place: before the name of the file, under the line, and in which style."""

    arrow: str
    mark: str
    style: str


_RELATED = _Pointer(":::", "-", "frame")


def _block(item: Diagnostic, paint: Paint) -> Iterator[str]:
    severity = str(item.severity)
    head = paint(f"{severity}[{item.code}]", severity)
    fact = printable(item.message)
    yield head + paint(f": {fact}", "bold")
    related = [span for span, _ in item.related]
    places = [item.span, *related]
    lines = [span.line for span in places if span is not None]
    gutter = len(str(max(lines, default=1)))
    if item.span is not None:
        own = _Pointer("-->", "^", severity)
        yield from _excerpt(item.span, item.label, gutter, own, paint, secret=item.secret)
    elif item.at is not None or item.object:
        where = f"{item.object} {item.at or ''}".strip()
        arrow = paint("-->", "frame")
        yield f"{' ' * gutter}{arrow} {printable(where)}"
    for span, label in item.related:
        yield from _excerpt(span, label, gutter, _RELATED, paint)
    if item.object and item.span is not None:
        yield _tail("note", f"in {item.object}", gutter, paint)
    for note in item.notes:
        yield _tail("note", note, gutter, paint)
    if item.help:
        yield _tail("help", item.help, gutter, paint)


def _tail(kind: str, text: str, gutter: int, paint: Paint) -> str:
    blank = " " * gutter
    sign = paint("=", "frame")
    lines = text.split("\n")
    first, *rest = map(printable, lines)
    indent = " " * len(f"{blank} = {kind}: ")
    head = paint(f"{kind}:", kind)
    lines = [f"{blank} {sign} {head} {first}"]
    lines += [f"{indent}{line}" for line in rest]
    return "\n".join(lines)


def _excerpt(
    span: Span, label: str, gutter: int, pointer: _Pointer, paint: Paint, *, secret: bool = False
) -> Iterator[str]:
    """The place, the first line of the span, and a mark under it."""
    blank = " " * gutter
    bar = paint("|", "frame")
    place = printable(str(span))
    yield f"{blank}{paint(pointer.arrow, 'frame')} {place}"
    line = line_of(span.file, span.line)
    if secret:
        line = _hidden(line, span)
    if not line.strip():
        if label:
            yield f"{blank} {bar} {printable(label)}"
        return
    measured = _measure(line, span)
    shown, start, width = _cut(*measured)
    under = pointer.mark * width
    if label:
        under += f" {printable(label)}"
    row = str(span.line).rjust(gutter)
    number = paint(row, "frame")
    yield f"{blank} {bar}"
    yield f"{number} {bar} {shown}"
    indent = " " * start
    yield f"{blank} {bar} {indent}{paint(under, pointer.style)}"


def _hidden(line: str, span: Span) -> str:
    """The line with `*` for each character of a value: of the span, or of what follows it there if the span goes on, or
    is the key of a value of several lines."""
    first = min(span.column - 1, len(line))
    last = len(line)
    if span.end_line == span.line:
        last = min(span.end_column - 1, len(line))
    key = _COLON.match(line, last)
    if key is not None:
        first, last = key.end(), len(line)
    stars = "*" * (last - first)
    return line[:first] + stars + line[last:]


def _measure(line: str, span: Span) -> tuple[str, int, int]:
    """The line as a terminal shows it, and the column and width of the span in it."""
    first = min(span.column - 1, len(line))
    last = len(line)
    if span.end_line == span.line:
        last = min(span.end_column - 1, len(line))
    # No farther: a file may be one line with a fault in each of its words.
    left = max(0, first - _REACH)
    line = masked(line[left : first + _REACH])
    first -= left
    last -= left
    start = columns(expand(line[:first]))
    width = columns(expand(line[first:last]))
    shown = expand(line).rstrip()
    return shown, start, max(1, width)


def _cut(line: str, start: int, width: int) -> tuple[str, int, int]:
    """A window of ``WIDTH`` columns around the mark, with ``...`` where something was left out."""
    if columns(line) <= WIDTH:
        return line, start, width
    rightmost = columns(line) - WIDTH
    left = max(0, min(start - WIDTH // 4, rightmost))
    shown, skipped = _window(line, left)
    head = "..." if skipped else ""
    end = skipped + columns(shown)
    if columns(line) > end:
        tail = "..."
    else:
        tail = ""
    start = start - skipped + len(head)
    room = columns(shown) + len(head) - start
    width = min(width, room)
    return f"{head}{shown}{tail}", start, max(1, width)


def _window(line: str, left: int) -> tuple[str, int]:
    """The characters from column ``left`` on that fit, and the columns before them."""
    at, skipped = 0, 0
    while at < len(line) and skipped < left:
        skipped += columns(line[at])
        at += 1
    end = at
    used = 0
    while end < len(line):
        width = columns(line[end])
        if used + width > WIDTH:
            break
        used += width
        end += 1
    return line[at:end], skipped


def expand(text: str) -> str:
    """Tabs as spaces, control characters as U+FFFD: nothing that moves a terminal's cursor."""
    return printable(text.replace("\t", " " * _TAB))


def printable(text: str) -> str:
    """The text with U+FFFD for what steers a terminal or is not seen for what it is.

    Control and format characters (bidirectional ones, those of no width), line separators, lone surrogates, and all
    spaces but the usual one, which only YAML distinguishes.
    """
    if text.isprintable():
        return text
    return "".join(map(_visible, text))


def _visible(char: str) -> str:
    if char == " ":
        return char
    if category(char) in _UNSEEN:
        return "\ufffd"
    return char


_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp", "Zs"})


def columns(text: str) -> int:
    """Columns of a terminal: two for wide (CJK) characters, none for combining ones."""
    if text.isascii():
        return len(text)
    return sum(map(_width, text))


def _width(char: str) -> int:
    if east_asian_width(char) in "WF":
        return 2
    if category(char) in ("Mn", "Me"):
        return 0
    return 1
