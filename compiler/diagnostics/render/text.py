"""Text for people, in the form of rustc: fact, place, line with a caret, notes, help.

The layout follows the Rust compiler's (rustc-dev-guide, "Diagnostic structure").
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from unicodedata import category, east_asian_width

from compiler.diagnostics.diagnostic import Diagnostic
from compiler.diagnostics.secrets import masked
from compiler.source import Span

WIDTH = 140
"""Longest source line shown in full, in columns of a terminal; longer ones are cut around the caret."""

_REACH = 4 * WIDTH
"""Characters of a line that are looked at on either side of a mark."""

_TAB = 4
_STYLES = {
    "error": "1;31",
    "warning": "1;33",
    "note": "1;36",
    "bold": "1",
    "frame": "1;34",
    "help": "1;32",
}

Paint = Callable[[str, str], str]


def render(
    diagnostics: Sequence[Diagnostic], *, tool_version: str, color: bool = False
) -> str:
    """One block a diagnostic, an empty line between two."""
    paint = _colored if color else _plain
    blocks = ["\n".join(_block(item, paint)) for item in diagnostics]
    return "\n".join(f"{block}\n" for block in blocks)


def details(item: Diagnostic) -> Iterator[str]:
    """What a diagnostic says beside its fact, a line each, for formats without places of their own."""
    if item.label:
        yield item.label
    if item.object:
        yield f"in {item.object}"
    yield from (f"note: {note}" for note in item.notes)
    yield from (f"{place}: {label}" for place, label in item.related)
    if item.help:
        yield f"help: {item.help}"


def _plain(text: str, style: str) -> str:
    return text


def _colored(text: str, style: str) -> str:
    return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if text else ""


def _block(item: Diagnostic, paint: Paint) -> Iterator[str]:
    severity = str(item.severity)
    head = paint(f"{severity}[{item.code}]", severity)
    yield head + paint(f": {printable(item.message)}", "bold")
    places = [item.span, *(span for span, _ in item.related)]
    lines = [span.line for span in places if span is not None]
    gutter = len(str(max(lines, default=1)))
    if item.span is not None:
        yield from _excerpt(
            item.span,
            item.label,
            gutter,
            "-->",
            "^",
            severity,
            paint,
            secret=item.secret,
        )
    elif item.at is not None or item.object:
        where = f"{item.object} {item.at or ''}".strip()
        yield f"{' ' * gutter}{paint('-->', 'frame')} {printable(where)}"
    for span, label in item.related:
        yield from _excerpt(span, label, gutter, ":::", "-", "frame", paint)
    if item.object and item.span is not None:
        yield _tail("note", f"in {item.object}", gutter, paint)
    for note in item.notes:
        yield _tail("note", note, gutter, paint)
    if item.help:
        yield _tail("help", item.help, gutter, paint)


def _tail(
    kind: str,
    text: str,
    gutter: int,
    paint: Paint,
) -> str:
    blank, sign = " " * gutter, paint("=", "frame")
    first, *rest = map(printable, text.split("\n"))
    indent = " " * len(f"{blank} = {kind}: ")
    lines = [f"{blank} {sign} {paint(f'{kind}:', kind)} {first}"]
    lines += [f"{indent}{line}" for line in rest]
    return "\n".join(lines)


def _excerpt(
    span: Span,
    label: str,
    gutter: int,
    arrow: str,
    mark: str,
    style: str,
    paint: Paint,
    *,
    secret: bool = False,
) -> Iterator[str]:
    """The place, the first line of the span, and a mark under it."""
    blank, bar = " " * gutter, paint("|", "frame")
    yield f"{blank}{paint(arrow, 'frame')} {printable(str(span))}"
    line = span.file.line(span.line)
    if secret:
        line = _hidden(line, span)
    if not line.strip():
        if label:
            yield f"{blank} {bar} {printable(label)}"
        return
    shown, start, width = _cut(*_measure(line, span))
    under = mark * width
    if label:
        under += f" {printable(label)}"
    number = paint(str(span.line).rjust(gutter), "frame")
    yield f"{blank} {bar}"
    yield f"{number} {bar} {shown}"
    yield f"{blank} {bar} {' ' * start}{paint(under, style)}"


def _hidden(line: str, span: Span) -> str:
    """The line with `*` for each character of the span, and of what follows it there if the span goes on."""
    first = min(span.column - 1, len(line))
    last = len(line)
    if span.end_line == span.line:
        last = min(span.end_column - 1, len(line))
    return line[:first] + "*" * (last - first) + line[last:]


def _measure(line: str, span: Span) -> tuple[str, int, int]:
    """The line as a terminal shows it, and the column and width of the span in it."""
    first, last = min(span.column - 1, len(line)), len(line)
    if span.end_line == span.line:
        last = min(span.end_column - 1, len(line))
    # No farther: a file may be one line with a fault in each of its words.
    left = max(0, first - _REACH)
    line = masked(line[left : first + _REACH])
    first, last = first - left, last - left
    start = columns(expand(line[:first]))
    width = columns(expand(line[first:last]))
    return expand(line).rstrip(), start, max(1, width)


def _cut(
    line: str,
    start: int,
    width: int,
) -> tuple[str, int, int]:
    """A window of ``WIDTH`` columns around the mark, with ``...`` where something was left out."""
    if columns(line) <= WIDTH:
        return line, start, width
    left = max(0, min(start - WIDTH // 4, columns(line) - WIDTH))
    shown, skipped = _window(line, left)
    head = "..." if skipped else ""
    tail = "..." if columns(line) > skipped + columns(shown) else ""
    start = start - skipped + len(head)
    room = columns(shown) + len(head) - start
    return f"{head}{shown}{tail}", start, max(1, min(width, room))


def _window(line: str, left: int) -> tuple[str, int]:
    """The characters from column ``left`` on that fit, and the columns before them."""
    at, skipped = 0, 0
    while at < len(line) and skipped < left:
        skipped += columns(line[at])
        at += 1
    end, used = at, 0
    while end < len(line) and used + columns(line[end]) <= WIDTH:
        used += columns(line[end])
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
    return "\ufffd" if char != " " and category(char) in _UNSEEN else char


_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp", "Zs"})


def columns(text: str) -> int:
    """Columns of a terminal: two for wide (CJK) characters, none for combining ones."""
    if text.isascii():
        return len(text)
    return sum(map(_width, text))


def _width(char: str) -> int:
    if east_asian_width(char) in "WF":
        return 2
    return 0 if category(char) in ("Mn", "Me") else 1
