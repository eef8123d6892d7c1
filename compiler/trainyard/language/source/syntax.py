"""Syntax errors: the YAML scanner's messages in our words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from trainyard.language.diagnostics.diagnostic import Diagnostic, error
from trainyard.language.diagnostics.words import numbered
from trainyard.language.places.tree import SourceFile, Span

if TYPE_CHECKING:
    from yaml.error import Mark, MarkedYAMLError

_ALIGN = "align the line with its sibling keys; indent with spaces"
_RESERVED = re.compile(r"[@`%]")

# Pattern over "context / problem" (libyaml's wording and that of PyYAML's own scanner), fact, help, label of the
# context's place. The first that matches wins.
_WORDINGS: tuple[tuple[str, str, str, str], ...] = (
    (
        "document start|invalid state",
        "text after the end of the document",
        "begin a further document with `---`, or correct the indentation",
        "",
    ),
    (
        "mapping values are not allowed",
        "a second `:` on a line, or a key where none is allowed",
        "quote the value if it contains `: `, or correct the indentation",
        "",
    ),
    (
        "quoted scalar / found unexpected (end of stream|document)",
        "quoted text is never closed",
        "add the closing quote",
        "opened here",
    ),
    (
        "Unicode character escape code",
        "an escape in double quotes that names no character",
        "write the character itself; one beyond U+FFFF is `\\U` and eight digits, not a pair of `\\u`",
        "opened here",
    ),
    (
        "unknown escape|escape sequence of|expected hexdecimal|did not find expected hex",
        "unknown escape in double quotes",
        "use single quotes, or write `\\\\` for a backslash",
        "opened here",
    ),
    (
        "sequence entries are not allowed",
        "`- ` where no list can begin",
        "put the list on a line of its own under its key",
        "",
    ),
    (
        "(scanning a simple key|could not find expected ':')",
        "a line that is no `key: value`",
        "write `key: value`, with a space after the colon, or correct the indentation",
        "starts here",
    ),
    (
        "flow sequence",
        "a list in `[...]` that is not closed, or lacks a comma",
        "close the bracket; separate items by commas; quote items that contain `[]{},:`",
        "opened here",
    ),
    (
        "flow mapping",
        "a mapping in `{...}` that is not closed, or lacks a comma",
        "close the brace; separate pairs by commas; quote values that contain `[]{},:`",
        "opened here",
    ),
    ("flow (node|context)|',' or", "a bracket that does not fit", "check brackets and commas", ""),
    (
        "block mapping",
        "a line that does not fit the mapping around it",
        _ALIGN,
        "mapping starts here",
    ),
    (
        "block (collection|sequence)|expected '-'",
        "a line that does not fit the list around it",
        "begin each item with `- ` in the same column",
        "list starts here",
    ),
    ("scanning an alias", "`*` begins an alias", "quote the value if it begins with `*`", ""),
    ("scanning an anchor", "`&` begins an anchor", "quote the value if it begins with `&`", ""),
    (
        "block scalar",
        "`|` or `>` must be followed by the end of the line",
        "put the text on the next line, indented; quote the value if it begins with `|` or `>`",
        "",
    ),
    ("tag", "an invalid tag", "remove the tag; quote the value if it begins with `!`", ""),
    ("directive|incompatible YAML", "an invalid `%` directive", "remove the line", ""),
)
_TAB_INDENT = re.compile(r" *\t")


def syntax_error(file: SourceFile, fault: MarkedYAMLError) -> Diagnostic:
    """The diagnostic of what the scanner or parser refused, with its own words as a note."""
    mark = fault.problem_mark or fault.context_mark
    span = _place(file, mark)
    line = file.line(span.line)
    is_of_tab = "tab" in (fault.problem or "")
    if is_of_tab or _has_tab_before(line, span.column):
        return _tab(file, span)
    character = line[span.column - 1 : span.column]
    fact, help, label = _wording(fault, character)
    spoken = f"the YAML parser says: {_spoken(fault)}"
    notes = (*_no_spaces(file, fault), spoken)
    problem = error("YML002", fact, at=span, help=help, notes=notes)
    if not label or fault.context_mark is None:
        return problem
    start = _place(file, fault.context_mark)
    if start == span:
        return problem
    return replace(problem, related=((start, label),))


# Zs of Unicode but the usual space, and what has no width: the parser takes them for letters.
_NO_SPACE = "[\u00a0\u1680\u2000-\u200d\u202f\u205f\u2060\u3000\ufeff]"


def _no_spaces(file: SourceFile, fault: MarkedYAMLError) -> Iterator[str]:
    """What looks like a space in the lines where the parser began and gave up, and in the one before."""
    marks = (fault.context_mark, fault.problem_mark)
    known = [mark for mark in marks if mark is not None]
    rows = {_place(file, mark).line for mark in known}
    last = max(rows, default=1)
    rows.add(max(1, last - 1))
    for row in sorted(rows):
        match = re.search(_NO_SPACE, file.line(row))
        if match is not None:
            character = f"U+{ord(match[0]):04X}"
            column = match.start() + 1
            yield f"character {character} at {row}:{column} looks like a space and is none to YAML"


def _has_tab_before(line: str, column: int) -> bool:
    """Whether a tab stands in the indentation, at or before the column where the parser stopped."""
    match = _TAB_INDENT.match(line)
    return match is not None and match.end() <= column


def _wording(fault: MarkedYAMLError, character: str) -> tuple[str, str, str]:
    """Fact, help and label for what the parser says about a character."""
    said = _joined(fault, " / ")
    if "cannot start any token" in said and _RESERVED.match(character):
        if character == "`":
            shown = "a backtick"
        else:
            shown = f"`{character}`"
        return f"a plain value cannot begin with {shown}", "quote the value", ""
    for pattern, fact, help, label in _WORDINGS:
        if re.search(pattern, said):
            return fact, help, label
    return "text that is not YAML", "quote the value if it is text", ""


def _spoken(fault: MarkedYAMLError) -> str:
    return _joined(fault, ", ") or "syntax error"


def _joined(fault: MarkedYAMLError, separator: str) -> str:
    """What the parser was doing and what stopped it, in its own words."""
    words = filter(None, (fault.context, fault.problem))
    return separator.join(words)


def _tab(file: SourceFile, span: Span) -> Diagnostic:
    line = file.line(span.line)
    column = line.find("\t") + 1 or span.column
    lines = file.text.split("\n")
    later_lines = lines[span.line :]
    indented = [later for later in later_lines if _TAB_INDENT.match(later)]
    more = len(indented)
    notes = (f"{more} later lines have tabs in their indentation too",) if more else ()
    place = Span(file, span.line, column, span.line, column + 1)
    return error(
        "YML003", "a tab in the indentation", notes=notes, help="indent with spaces", at=place
    )


def _place(file: SourceFile, mark: Mark | None) -> Span:
    """One character at a mark; past the last line, the end of the last line that has text."""
    if mark is None:
        return Span(file, 1, 1, 1, 2)
    row = mark.line + 1
    column = mark.column + 1
    lines = file.text.count("\n") + 1
    if row >= lines and not file.line(row):
        while row > 1 and not file.line(row).strip():
            row -= 1
        column = len(file.line(row)) + 1
    return Span(file, row, column, row, column + 1)


# What YAML 1.2.2 section 5.1 (c-printable) leaves out; the breaks that only YAML 1.1 knows: U+0085, U+2028, U+2029; and
# a byte order mark at the start of a later line, where two files were joined.
# Compiled where a text has what is not printable, and kept by `re`: it takes a millisecond.
FORBIDDEN = "(?m)[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]|^\ufeff"
_ALLOWED = bytes((*b"\t\n\r", *range(ord(" "), ord("~") + 1)))
"""What of ASCII is allowed."""
_BREAKS = "\u0085\u2028\u2029"


MAX_LINES = 100
"""Most lines of a text whose forbidden characters are reported: beyond, it is no text."""


def has_forbidden(text: str) -> bool:
    """Whether a text has characters that are forbidden. Nothing that is printable is; in ASCII, what is left without
    what is allowed is found fastest."""
    if text.isascii():
        return text.encode().translate(None, _ALLOWED) != b""
    rest = text.replace("\n", "").replace("\t", "")
    return not rest.isprintable() and re.search(FORBIDDEN, text) is not None


def forbidden_characters(file: SourceFile) -> Iterable[Diagnostic]:
    """A diagnostic for the first character of each line that no YAML text may hold (or that only YAML 1.1 takes for a
    line end), with the number of those after it."""
    matches = re.finditer(FORBIDDEN, file.text)
    starts = [match.start() for match in matches]
    lines = Counter(file.position(start)[0] for start in starts)
    for reported, (line, count) in enumerate(lines.items(), 1):
        notes = []
        if count > 1:
            notes.append(f"{count - 1} more of them on this line")
        is_last = reported == MAX_LINES
        if is_last and len(lines) > reported:
            rest = len(lines) - reported
            notes.append(
                numbered(rest, "more line has such characters", "more lines have such characters")
            )
        yield _forbidden_character(file, line, tuple(notes))
        if reported == MAX_LINES:
            return


def _forbidden_character(file: SourceFile, line: int, notes: tuple[str, ...]) -> Diagnostic:
    match = re.search(FORBIDDEN, file.line(line))
    assert match is not None
    why = "is not allowed in a YAML file"
    if match[0] in _BREAKS:
        why = "ends a line in YAML 1.1 and not in YAML 1.2"
    code = ord(match[0])
    column = match.start() + 1
    return error(
        "YML018",
        f"character U+{code:04X} {why}",
        notes=notes,
        at=Span(file, line, column, line, column + 1),
        help=f'remove it, or write `"\\u{code:04x}"` in double quotes',
    )
