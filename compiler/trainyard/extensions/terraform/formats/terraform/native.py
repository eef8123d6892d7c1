"""Reads the native syntax of Terraform (`*.tf`) into the tree that its JSON syntax has, with the place of each value.

Literals are values. Any other expression is the text `${…}`, as in JSON: what it gives is not known before it is
applied. Sources: HCL native syntax (hashicorp/hcl v2.24, hclsyntax/spec.md); Terraform language, JSON configuration
syntax (v1.11).
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Callable
from typing import TypeVar

from trainyard.language.diagnostics import Diagnostic
from trainyard.language.diagnostics.diagnostic import error
from trainyard.language.places import Document, Node, SourceFile
from trainyard.language.places.tree import MappingNode, ScalarNode, SequenceNode, Span

_Read = TypeVar("_Read")
_DEEPEST = 100
"""Blocks, brackets and templates within each other; nobody writes ten."""
_BLANKS = re.compile(r"(?:[ \t\r]+|/\*.*?\*/)*", re.DOTALL)
_GAPS = re.compile(r"(?:[ \t\r\n]+|/\*.*?\*/|(?:#|//)[^\n]*)*", re.DOTALL)
_COMMENT = re.compile(r"(?:#|//)[^\n]*")
_NAME = re.compile(r"[^\W\d][\w-]*")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])")
_HEREDOC = re.compile(r"<<(?P<indented>-?)(?P<end>[^\W\d][\w-]*)[ \t\r]*\n")
_SIGNIFICANT = re.compile(r'["{}\[\](),\n]|<<-?(?=[^\W\d])|#|//|/\*')
_OF_TEXT = re.compile(
    r'[^"\\$%\n]+|\\u[0-9a-fA-F]{4}|\\U[0-9a-fA-F]{8}|\\[^\n]|\$\$\{|%%\{|[$%]\{|[$%"\n]'
)
_KEY_ENDS = re.compile(r"[=:\n]")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}
_WORDS = {"true": True, "false": False, "null": None}
_PAIRS = {"(": ")", "[": "]", "{": "}"}


class _NativeError(Exception):
    """What is wrong with a text, and where; nothing below it is read."""

    def __init__(self, message: str, start: int, help: str) -> None:
        super().__init__(message)
        self.message, self.start, self.help = message, start, help


def parsed(file: SourceFile) -> tuple[Document | None, list[Diagnostic]]:
    """A file of a module as a document, or what is wrong with its syntax."""
    reader = _Native(file)
    try:
        return Document(reader.whole()), []
    except _NativeError as fault:
        line, column = file.position(fault.start)
        span = Span(file, line, column, line, column + 1)
        return None, [error("LNT010", fault.message, at=span, help=fault.help)]


class _Native:
    """One text, read from its start to its end."""

    def __init__(self, file: SourceFile) -> None:
        self._file = file
        self._text = file.text
        self._at = 1 if file.text.startswith("\ufeff") else 0
        self._depth = 0

    def whole(self) -> MappingNode:
        body = self._body()
        if self._at < len(self._text):
            raise _NativeError("`}` closes nothing", self._at, "remove it")
        return body

    # --- structure

    def _body(self) -> MappingNode:
        """Arguments and blocks, as far as a `}` or the end."""
        start = self._at
        items: dict[str, Node] = {}
        self._pass(_GAPS)
        while self._at < len(self._text) and self._next() != "}":
            self._item(items)
            self._pass(_GAPS)
        return MappingNode(self._span(start, self._at), items)

    def _item(self, items: dict[str, Node]) -> None:
        start = self._at
        name = self._name("an argument or a block")
        key_span = self._span(start, self._at)
        self._pass(_BLANKS)
        if self._next() != "=" or self._text.startswith("==", self._at):
            self._block(items, name, key_span)
            return
        self._at += 1
        self._pass(_BLANKS)
        value = self._nested(lambda: self._expression(ends_with_line=True))
        value.key_span = key_span
        if name in items:
            raise _NativeError(f"`{name}` is set twice", start, "remove one of both")
        items[name] = value
        self._end_of_item()

    def _end_of_item(self) -> None:
        self._pass(_BLANKS)
        self._pass(_COMMENT)
        if self._next() not in ("\n", "}", ""):
            raise self._unexpected(
                "the end of the line", "write the next argument on a line of its own"
            )

    def _block(self, items: dict[str, Node], kind: str, key_span: Span) -> None:
        """A block below its type and its labels, as JSON has it; several of one kind are a list."""
        start = self._at
        names = [(kind, key_span)]
        while self._next() not in ("{", ""):
            begins = self._at
            label = self._quoted() if self._next() == '"' else self._name("`=` or `{`")
            names.append((label, self._span(begins, self._at)))
            self._pass(_BLANKS)
        self._expect("{", "add the body of the block", start)
        body = self._nested(self._body)
        if self._next() != "}":
            raise _NativeError(f"the block `{kind}` is not closed", start, "add `}`")
        self._at += 1
        self._end_of_item()
        for name, span in names[:-1]:
            outer = items.setdefault(name, MappingNode(body.span, {}, key_span=span))
            if not isinstance(outer, MappingNode):
                raise _NativeError(
                    f"`{name}` is both an argument and a block", start, "remove one of both"
                )
            items = outer.items
        name, body.key_span = names[-1]
        before = items.get(name)
        if before is None:
            items[name] = body
        elif isinstance(before, SequenceNode):
            before.items.append(body)
        else:
            items[name] = SequenceNode(before.span, [before, body], key_span=before.key_span)

    # --- expressions

    def _expression(self, *, ends_with_line: bool) -> Node:
        """A value: what is literal, or the text of another expression."""
        start = self._at
        node = self._literal()
        if node is not None and self._is_end(ends_with_line=ends_with_line):
            return node
        self._at = start
        self._skip(ends_with_line=ends_with_line)
        text = self._text[start : self._at].rstrip()
        if not text:
            raise self._unexpected("a value", "write a value")
        self._at = start + len(text)
        return self._scalar(start, f"${{{text}}}")

    def _is_end(self, *, ends_with_line: bool) -> bool:
        """Whether an expression ends here; in brackets the next line may continue it."""
        ahead = self._ahead(_BLANKS if ends_with_line else _GAPS)
        if ends_with_line and _COMMENT.match(self._text, ahead):
            return True
        return self._text[ahead : ahead + 1] in (",", "]", "}", ")", "\n", "")

    def _literal(self) -> Node | None:
        """A literal; ``None`` for another expression."""
        start, first = self._at, self._next()
        if first == '"':
            return self._scalar(start, self._quoted(), quoted=True)
        if first == "<" and _HEREDOC.match(self._text, start):
            return self._scalar(start, self._heredoc(), quoted=True)
        if first == "[":
            return self._list()
        if first == "{":
            return self._object()
        number = _NUMBER.match(self._text, start)
        if number is not None:
            self._at = number.end()
            whole = number[0].lstrip("-").isdigit()
            return self._scalar(start, int(number[0]) if whole else float(number[0]))
        word = _NAME.match(self._text, start)
        if word is None:
            return None
        if word[0] in _WORDS:
            self._at = word.end()
            return self._scalar(start, _WORDS[word[0]])
        if word[0] == "jsonencode" and self._text.startswith("(", word.end()):
            return self._encoded(word.end() + 1)
        return None

    def _encoded(self, inside: int) -> Node:
        """The text that `jsonencode` makes."""
        start, self._at = self._at, inside
        self._pass(_GAPS)
        value = self._nested(lambda: self._expression(ends_with_line=False))
        self._pass(_GAPS)
        self._expect(")", "close the call", start)
        return self._scalar(start, json.dumps(value.to_python(), ensure_ascii=False), quoted=True)

    def _list(self) -> Node | None:
        start = self._at
        self._at += 1
        self._pass(_GAPS)
        if self._is_for():
            return None
        items: list[Node] = []
        while self._next() != "]":
            items.append(self._nested(lambda: self._expression(ends_with_line=False)))
            self._pass(_GAPS)
            if self._next() != "]":
                self._expect(",", "divide the items by `,`, and close the list with `]`", start)
                self._pass(_GAPS)
        self._at += 1
        return SequenceNode(self._span(start, self._at), items)

    def _object(self) -> Node | None:
        start = self._at
        self._at += 1
        self._pass(_GAPS)
        if self._is_for():
            return None
        items: dict[str, Node] = {}
        while self._next() != "}":
            begins = self._at
            key = self._key(start)
            key_span = self._span(begins, self._at)
            self._pass(_GAPS)
            if self._next() not in ("=", ":"):
                raise self._unexpected(
                    "`=` behind a key", "write `key = value`, and close with `}`"
                )
            self._at += 1
            self._pass(_GAPS)
            value = self._nested(lambda: self._expression(ends_with_line=True))
            value.key_span = key_span
            items[key] = value
            self._pass(_GAPS)
            if self._next() == ",":
                self._at += 1
                self._pass(_GAPS)
        self._at += 1
        return MappingNode(self._span(start, self._at), items)

    def _key(self, start: int) -> str:
        """The key of an object; one that an expression gives is that."""
        first = self._next()
        if first == '"':
            return self._quoted()
        begins = self._at
        if first == "(":
            self._at += 1
            self._skip(ends_with_line=False, commas=True)
            self._expect(")", "close the key", begins)
            return f"${{{self._text[begins : self._at]}}}"
        end = _KEY_ENDS.search(self._text, begins)
        key = self._text[begins : end.start() if end else begins].rstrip()
        if not key:
            raise _NativeError("the object is not closed", start, "add `}`")
        self._at = begins + len(key)
        return key

    def _is_for(self) -> bool:
        word = _NAME.match(self._text, self._at)
        return word is not None and word[0] == "for"

    def _quoted(self) -> str:
        """A text in quotes, with its `${…}`."""
        start = self._at
        self._at += 1
        made: list[str] = []
        while True:
            part = _OF_TEXT.match(self._text, self._at)
            if part is None or part[0] == "\n":
                raise _NativeError(
                    "a text in quotes is not closed in its line", start, 'add `"`, or write `<<EOT`'
                )
            begins, self._at = self._at, part.end()
            if part[0] == '"':
                return "".join(made)
            if part[0] in ("${", "%{"):
                self._nested(self._template)
            made.append(_unescaped(self._text[begins : self._at]))

    def _template(self) -> None:
        """What stands in `${…}` of a text."""
        start = self._at
        self._skip(ends_with_line=False, commas=True)
        self._expect("}", "close `${` with `}`", start)

    def _heredoc(self) -> str:
        begins = _HEREDOC.match(self._text, self._at)
        assert begins is not None
        marker = re.compile(rf"^[ \t]*{re.escape(begins['end'])}(?=[ \t\r]*$)", re.MULTILINE)
        end = marker.search(self._text, begins.end())
        if end is None:
            word = begins["end"]
            raise _NativeError(
                f"`<<{word}` is not closed", self._at, f"add a line with `{word}` alone"
            )
        text = self._text[begins.end() : end.start()].replace("\r\n", "\n")
        self._at = end.end()
        return textwrap.dedent(text) if begins["indented"] else text

    def _skip(self, *, ends_with_line: bool, commas: bool = False) -> None:
        """Go to the end of an expression: of its line, at a `,`, or at a bracket that it did not open."""
        opened: list[tuple[str, int]] = []
        ends = {")", "]", "}"}
        if ends_with_line:
            ends |= {"\n", "#", "//"}
        if not commas:
            ends.add(",")
        while (found := _SIGNIFICANT.search(self._text, self._at)) is not None:
            self._at, sign = found.start(), found[0]
            if not opened and sign in ends:
                return
            if sign in _PAIRS:
                opened.append((sign, self._at))
                self._at += 1
            elif sign in ")]}":
                self._close(opened, sign)
            else:
                self._pass_part(found)
            if len(opened) > _DEEPEST:
                raise self._too_deep()
        self._at = len(self._text)
        if opened:
            last, start = opened[-1]
            raise _NativeError(f"`{last}` is not closed", start, f"add `{_PAIRS[last]}`")

    def _close(self, opened: list[tuple[str, int]], sign: str) -> None:
        last, _ = opened.pop()
        if _PAIRS[last] != sign:
            raise self._unexpected(f"`{_PAIRS[last]}`", f"close `{last}` first")
        self._at += 1

    def _pass_part(self, found: re.Match[str]) -> None:
        """Go behind what may hold brackets that count for nothing: a text or a comment; or behind another sign."""
        sign = found[0]
        if sign == '"':
            self._nested(self._quoted)
        elif sign.startswith("<<") and _HEREDOC.match(self._text, self._at):
            self._heredoc()
        elif sign in ("#", "//"):
            self._pass(_COMMENT)
        elif sign == "/*":
            end = self._text.find("*/", self._at)
            if end < 0:
                raise _NativeError("a comment is not closed", self._at, "add `*/`")
            self._at = end + 2
        else:
            self._at = found.end()

    # --- places

    def _nested(self, read: Callable[[], _Read]) -> _Read:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self._too_deep()
        node = read()
        self._depth -= 1
        return node

    def _too_deep(self) -> _NativeError:
        return _NativeError(
            f"more than {_DEEPEST} levels within each other", self._at, "nest it less deeply"
        )

    def _next(self) -> str:
        """The next character; empty at the end."""
        return self._text[self._at : self._at + 1]

    def _ahead(self, pattern: re.Pattern[str]) -> int:
        found = pattern.match(self._text, self._at)
        return self._at if found is None else found.end()

    def _pass(self, pattern: re.Pattern[str]) -> None:
        self._at = self._ahead(pattern)

    def _name(self, wanted: str) -> str:
        name = _NAME.match(self._text, self._at)
        if name is None:
            raise self._unexpected(wanted, "correct it: `terraform validate` says more")
        self._at = name.end()
        return name[0]

    def _expect(self, sign: str, help: str, start: int) -> None:
        if self._next() == "":
            raise _NativeError(f"the file ends before `{sign}`", start, help)
        if self._next() != sign:
            raise self._unexpected(f"`{sign}`", help)
        self._at += 1

    def _unexpected(self, wanted: str, help: str) -> _NativeError:
        found = self._next()
        shown = {"": "the end of the file", "\n": "the end of the line"}.get(found, f"`{found}`")
        return _NativeError(f"{shown} where {wanted} is expected", self._at, help)

    def _span(self, start: int, end: int) -> Span:
        return Span(self._file, *self._file.position(start), *self._file.position(end))

    def _scalar(
        self, start: int, value: str | float | bool | None, *, quoted: bool = False
    ) -> Node:
        return ScalarNode(self._span(start, self._at), value, self._text[start : self._at], quoted)


def _unescaped(part: str) -> str:
    if not part.startswith("\\"):
        return part
    if part[1] in "uU" and len(part) > 2:
        number = int(part.lstrip("\\uU"), 16)
        return chr(number) if number <= 0x10FFFF else part
    return _ESCAPES.get(part[1], part)
