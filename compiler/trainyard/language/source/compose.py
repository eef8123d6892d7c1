"""Composing: parser events to nodes with spans; every fault that is not one of syntax is found here.

The events come from libyaml through PyYAML (0.7 µs each, line and column included), or from PyYAML's own
parser where the wheel has no libyaml. Meaning is given here, so both read YAML 1.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from trainyard.language.diagnostics.diagnostic import Diagnostic, error
from trainyard.language.diagnostics.near import near
from trainyard.language.places.tree import (
    Document,
    MappingNode,
    Node,
    ScalarNode,
    SequenceNode,
    SourceFile,
    Span,
    text_node,
)
from trainyard.language.source.libyaml import (
    AliasEvent,
    CollectionEndEvent,
    CollectionStartEvent,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
    StreamEndEvent,
    yaml,
)
from trainyard.language.source.scalars import Refusal, resolve

_MERGE = "tag:yaml.org,2002:merge"
MAX_DEPTH = 64
"""Deepest nesting; Kubernetes objects stay under 30, and a stack of 64 never overflows."""

MAX_ALIAS_NODES = 10_000
"""Most nodes that aliases may add to a document; the classic bomb adds 10⁹."""


MAX_NODES = 2_000_000
"""Most values of a text: four times a spec of 10,000 jobs. Each takes some 250 bytes, so half a gigabyte in all."""


class TooMany(Exception):  # noqa: N818 - a signal, not an error
    """Values beyond ``MAX_NODES``; the rest of the text is given up."""


class TooDeep(Exception):  # noqa: N818 - a signal, not an error
    """Nesting beyond ``MAX_DEPTH``; the rest of the document is given up."""

    def __init__(self, line: int) -> None:
        self.line = line


def events(text: str, *, pure: bool = False) -> Callable[[], Any]:
    """A function that gives the next event of a YAML text; it raises ``yaml.YAMLError``."""
    if pure or not yaml.__with_libyaml__:
        return yaml.SafeLoader(text).get_event
    from yaml._yaml import CParser

    return CParser(text).get_event


_Anchored = tuple[Node, int]
"""A node with an anchor, and how many values it holds."""

NO_TAGS: Mapping[str, str] = MappingProxyType({})


class Composer:
    """Builds the documents of one text; ``diagnostics`` receives what is wrong with it.

    ``tags``: short forms that the format has, as ``{"!Ref": "Ref"}``: a value with the tag is a mapping of that one
    key.
    """

    def __init__(
        self,
        file: SourceFile,
        next_event: Callable[[], Any],
        diagnostics: list[Diagnostic],
        tags: Mapping[str, str] = NO_TAGS,
    ) -> None:
        self._tags = tags
        self._file = file
        self._next = next_event
        self._diagnostics = diagnostics
        self._values: dict[str, Any] = {}
        self._keys: set[str] = set()
        self._count = 0
        self._start_document()

    def _start_document(self) -> None:
        self._anchors: dict[str, _Anchored | None] = {}
        self._aliased = 0

    def documents(self) -> Iterator[Document]:
        """Every document that is not empty."""
        self._next()  # the start of the stream
        while not isinstance(self._next(), StreamEndEvent):
            self._start_document()
            root = self._node(self._next(), None, 0)
            self._next()  # the end of the document
            empty = isinstance(root, ScalarNode) and root.value is None and not root.text
            if not empty:
                yield Document(root)

    def _span(self, event: Any) -> Span:
        start, end = event.start_mark, event.end_mark
        return Span(self._file, start.line + 1, start.column + 1, end.line + 1, end.column + 1)

    def _error(
        self,
        code: str,
        message: str,
        span: Span,
        help: str,
        related: tuple[tuple[Span, str], ...] = (),
    ) -> None:
        fault = error(code, message, at=span, help=help)
        if related:
            fault = replace(fault, related=related)
        self._diagnostics.append(fault)

    def _node(self, event: Any, key: Span | None, depth: int) -> Node:
        """The node that begins with an event; ``key`` is the place of its key."""
        if type(event) is AliasEvent:
            return self._alias(event, key, depth)
        if event.tag is not None:
            if event.tag in self._tags:
                return self._short_form(event, key, depth)
            self._tagged(event)
        self._count += 1
        if self._count > MAX_NODES:
            self._too_many(self._span(event))
        if event.anchor is None:
            return self._value(event, key, depth)
        self._anchors[event.anchor] = None  # until it ends
        before = self._count
        node = self._value(event, key, depth)
        size = self._count - before + 1
        self._anchors[event.anchor] = (node, size)
        return node

    def _value(self, event: Any, key: Span | None, depth: int) -> Node:
        if type(event) is ScalarEvent:
            return self._scalar(event, key)
        if depth >= MAX_DEPTH:
            self._too_deep(self._span(event))
        if type(event) is MappingStartEvent:
            return self._mapping(event, key, depth)
        return self._list(event, key, depth)

    def _short_form(self, event: Any, key: Span | None, depth: int) -> Node:
        """A value with a tag of the format: a mapping of one key. A scalar of it is text."""
        if depth >= MAX_DEPTH:
            self._too_deep(self._span(event))
        name = self._tags[event.tag]
        anchor = event.anchor
        before = self._count
        event.tag = event.anchor = None
        if anchor is not None:
            self._anchors[anchor] = None
        if type(event) is ScalarEvent:
            span = self._span(event)
            inner: Node = ScalarNode(span, event.value, event.value, True)
        else:
            inner = self._node(event, None, depth + 1)
        self._count += 1
        node = MappingNode(inner.span, {name: inner}, key_span=key)
        if anchor is not None:
            size = self._count - before + 1
            self._anchors[anchor] = (node, size)
        return node

    def _scalar(self, event: ScalarEvent, key: Span | None) -> ScalarNode:
        text = event.value
        if event.style:
            return ScalarNode(self._span(event), text, text, True, key_span=key)
        if text not in self._values:
            self._values[text] = resolve(text)
        value = self._values[text]
        if not text and key is not None:  # nothing was written: show the key
            return ScalarNode(key, value, text, key_span=key)
        span = self._span(event)
        if type(value) is Refusal:
            self._error(value.code, f"`{_short(text)}` {value.fact}", span, value.help)
            value = text
        return ScalarNode(span, value, text, key_span=key)

    def _list(self, event: CollectionStartEvent, key: Span | None, depth: int) -> SequenceNode:
        items: list[Node] = []
        next_event, node = self._next, self._node
        item = next_event()
        while not isinstance(item, CollectionEndEvent):
            items.append(node(item, None, depth + 1))
            item = next_event()
        if items:
            last = items[-1].span
        else:
            last = None
        return SequenceNode(self._whole(event, item, last), items, key_span=key)

    def _mapping(self, event: CollectionStartEvent, key: Span | None, depth: int) -> MappingNode:
        items: dict[str, Node] = {}
        merged: list[Node] = []
        last: Span | None = None
        next_event, node = self._next, self._node
        first = next_event()
        while not isinstance(first, CollectionEndEvent):
            name, place = self._key(first, depth)
            value = node(next_event(), place, depth + 1)
            last = value.span
            if name is None:
                if type(first) is ScalarEvent and first.value == "<<":
                    merged.append(value)
            elif name in items:
                self._duplicate(name, place, items[name])
                items[name] = value  # what readers take: Go's, Python's, that of JSON
            else:
                items[name] = value
            first = next_event()
        for value in merged:
            _merge(items, value)
        return MappingNode(self._whole(event, first, last), items, key_span=key)

    def _whole(self, start: Any, end: Any, last: Span | None) -> Span:
        """From the first to the last character; a block's own end mark lies at the next token."""
        span = self._span(start)
        if start.flow_style or last is None:
            mark = end.end_mark
            return Span(self._file, span.line, span.column, mark.line + 1, mark.column + 1)
        return Span(self._file, span.line, span.column, last.end_line, last.end_column)

    def _key(self, event: Any, depth: int) -> tuple[str | None, Span]:
        """The name of a key (``None``: there is none, the value is left out) and its place."""
        span = self._span(event)
        if type(event) is not ScalarEvent:
            return self._complex_key(event, span, depth), span
        name = event.value
        if name in self._keys and not event.style:
            return name, span
        if event.tag == _MERGE and name == "<<":
            event.tag = None  # yq writes it; it says what the key says
        if event.tag is not None or event.anchor is not None:
            self._node(event, span, depth)
        if event.style:
            return name, span
        if name == "<<":
            self._error(
                "YML015",
                "the merge key `<<` is not part of YAML 1.2",
                span,
                "use `extends:` with the path of a base, or repeat the keys",
            )
            return None, span
        self._check_key(name, span)
        return name, span

    def _check_key(self, name: str, span: Span) -> None:
        """A key without quotes must be text to every reader."""
        value = resolve(name)
        if type(value) is str:
            self._keys.add(name)
        elif type(value) is Refusal:
            shown = _short(name)
            help = f'quote the key: `"{shown}"`'
            self._error(value.code, f"key `{shown}` {value.fact}", span, help)
        elif name:
            help = f'quote the key: `"{name}"`'
            self._error("YML012", f"key `{name}` is not a string", span, help)
        else:
            help = "write a name before the colon"
            self._error("YML012", "a key is empty", span, help)

    def _complex_key(self, event: NodeEvent, span: Span, depth: int) -> str | None:
        node = self._node(event, span, depth + 1)
        text = text_node(node)
        if type(event) is AliasEvent and text is not None:
            return text.text
        start = max(0, span.column - 2)
        help = "use a string as key"
        line = self._file.line(span.line)
        if "{{" in line[start : span.column + 1]:
            help = "quote the value; template expressions are not expanded"
        self._error("YML013", "a key is a list, a mapping or an alias", span, help)
        return None

    def _alias(self, event: Any, key: Span | None, depth: int) -> Node:
        """A copy of what the anchor names, standing at the alias."""
        span = self._span(event)
        name = event.anchor
        null = ScalarNode(span, None, "", key_span=key)
        if name not in self._anchors:
            self._error(
                "YML004",
                f"no anchor `&{name}` before alias `*{name}`",
                span,
                f"define `&{name}` above, or quote the value if it is text",
            )
            return null
        anchored = self._anchors[name]
        if anchored is None:
            message = f"alias `*{name}` is inside its own anchor"
            self._error("YML006", message, span, "write the value out")
            return null
        node, size = anchored
        if self._is_too_much(size, span):
            return null
        if depth + _height(node) > MAX_DEPTH:
            self._too_deep(span)
        match node:
            case ScalarNode():
                return ScalarNode(span, node.value, node.text, node.quoted, key_span=key)
            case MappingNode():
                return MappingNode(span, node.items, key_span=key)
        assert isinstance(node, SequenceNode)
        return SequenceNode(span, node.items, key_span=key)

    def _is_too_much(self, size: int, span: Span) -> bool:
        """Whether this alias would pass the limit; reported once a document."""
        before = self._aliased
        self._aliased += size
        if self._aliased <= MAX_ALIAS_NODES:
            self._count += size
            return False
        if before <= MAX_ALIAS_NODES:
            self._error(
                "YML005",
                f"aliases add more than {MAX_ALIAS_NODES:,} values",
                span,
                "write the values out, or share them with `extends:`",
            )
        return True

    def _too_deep(self, span: Span) -> None:
        self._error(
            "YML007", f"nested more than {MAX_DEPTH} levels deep", span, "flatten the value"
        )
        raise TooDeep(span.line)

    def _too_many(self, span: Span) -> None:
        self._error(
            "YML023",
            f"`{self._file.name}` holds more than {MAX_NODES:,} values",
            span,
            "split it into files",
        )
        raise TooMany

    def _tagged(self, event: Any) -> None:
        tag = event.tag.replace("tag:yaml.org,2002:", "!!")
        close = []
        if self._tags:
            close = near(tag, self._tags, limit=1)
        help = "remove the tag; quote the value if it is text"
        if close:
            help = f"did you mean `{close[0]}`?"
        self._error("YML014", f"explicit tag `{_short(tag)}`", self._span(event), help)

    def _duplicate(self, name: str, place: Span, first: Node) -> None:
        message = f"duplicate key `{_short(name)}`"
        assert first.key_span is not None
        related = ((first.key_span, "first set here"),)
        self._error("YML001", message, place, "remove one of the two", related)


def _merge(items: dict[str, Node], merged: Node) -> None:
    """Add what ``<<`` brings: a mapping or a list of them, the first before the next; own keys win (YAML 1.1 merge)."""
    if isinstance(merged, SequenceNode):
        mappings = merged.items
    else:
        mappings = [merged]
    for mapping in mappings:
        if isinstance(mapping, MappingNode):
            for key, value in mapping.items.items():
                items.setdefault(key, value)


def _height(node: Node) -> int:
    """Levels of nesting at and below a node."""
    if isinstance(node, MappingNode):
        values = node.items.values()
        return 1 + max(map(_height, values), default=0)
    if isinstance(node, SequenceNode):
        heights = map(_height, node.items)
        return 1 + max(heights, default=0)
    return 0


def _short(text: str) -> str:
    if len(text) <= 60:
        return text
    return f"{text[:57]}..."
