"""Files beside a spec that it names by a path and that are no YAML: each is read with its lines, which are places like
any other."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Sequence

from trainyard.disk.inputs import exists, is_folder, real_path
from trainyard.language.dataclass import dataclass
from trainyard.language.diagnostics.diagnostic import Diagnostic, error
from trainyard.language.places.route import Key, Route
from trainyard.language.places.tree import (
    Document,
    MappingNode,
    Node,
    ScalarNode,
    SequenceNode,
    Span,
)
from trainyard.language.source.include import below, repository_of
from trainyard.language.source.read import read


@dataclass(frozen=True, slots=True)
class TextKey:
    """A key that names a file: its keys below ``spec``, ``None`` for each item of a list.

    ``default``: the path where the spec gives none, with the ``{cluster}`` and the ``{name}`` of the item; such a file
    may be absent. ``lines``: whether the file is read; of others it is only known whether they are there.
    ``from_root``: a folder, from the root of the repository; who needs it says that it is absent.
    """

    keys: tuple[str | None, ...]
    default: str = ""
    lines: bool = True
    from_root: bool = False


@dataclass(frozen=True, slots=True)
class Text:
    """A file that a spec names: its path from the root of the repository, and its lines. ``there``: whether it is."""

    at: Route
    path: str
    there: bool
    lines: tuple[str, ...] = ()


@dataclass(slots=True)
class TextNode(ScalarNode):
    """A path whose children are the lines of its file, from 0."""

    lines: list[ScalarNode] = dataclasses.field(default_factory=list)

    def child(self, key: Key) -> Node | None:
        if isinstance(key, int) and 0 <= key < len(self.lines):
            return self.lines[key]
        return None


def with_texts(
    document: Document, keys: Sequence[TextKey]
) -> tuple[Document, dict[Route, Text], list[Diagnostic]]:
    """A spec with the lines of the files that it names below their paths, these files by the route of their path, and
    what is wrong with the paths."""
    texts: dict[Route, Text] = {}
    faults: list[Diagnostic] = []
    for key in keys:
        for route, item in _items(document, key):
            node = item.child(route[-1])
            path = _path(document, item, key, node)
            if path is None:
                continue
            read_node, text = _read(path, route, key, faults)
            texts[route] = text
            document = Document(_replaced(document.root, route, read_node))
    return document, texts, faults


def _items(document: Document, key: TextKey) -> Iterator[tuple[Route, MappingNode]]:
    """The mappings that may have the key, each with the route of the key in it."""
    spec = document.root.child("spec")
    places: list[tuple[Route, Node]] = []
    if spec:
        places.append((Route(("spec",)), spec))
    for part in key.keys[:-1]:
        below_it: list[tuple[Route, Node]] = []
        for route, node in places:
            if part is None:
                if isinstance(node, SequenceNode):
                    items = node.items
                else:
                    items = []
                numbered = enumerate(items)
                below_it += [(route / number, item) for number, item in numbered]
                continue
            child = node.child(part)
            if child is not None:
                below_it.append((route / part, child))
        places = below_it
    last = key.keys[-1]
    assert last is not None
    for route, node in places:
        if isinstance(node, MappingNode):
            yield route / last, node


def _path(
    document: Document, item: MappingNode, key: TextKey, node: Node | None
) -> ScalarNode | None:
    """The path of an item, or the one by default; ``None`` where it has none, or what is no text."""
    if isinstance(node, ScalarNode) and isinstance(node.value, str):
        return node
    if node is not None or not key.default:
        return None
    name = item.child("name")
    metadata = document.root.child("metadata")
    if metadata is not None:
        cluster = metadata.child("name")
    else:
        cluster = None
    if not isinstance(name, ScalarNode):
        return None
    if not isinstance(cluster, ScalarNode):
        return None
    if not _is_name(name) or not _is_name(cluster):
        return None  # no name, which is reported
    path = key.default.format(cluster=cluster.value, name=name.value)
    # It is in no file: findings about it are reported at the item's name.
    return ScalarNode(name.span, path, path, key_span=name.key_span)


def _is_name(node: ScalarNode) -> bool:
    letters = str(node.value).replace("-", "")
    return letters.isalnum()


def _read(
    node: ScalarNode, at: Route, key: TextKey, faults: list[Diagnostic]
) -> tuple[TextNode, Text]:
    written = str(node.value)
    file = os.path.abspath(node.span.file.name)
    home = os.path.dirname(file)
    root = repository_of(real_path(home))
    path = os.path.normpath(os.path.join(root if key.from_root else home, written))
    shown = os.path.relpath(path)
    lines: list[ScalarNode] = []
    there = exists(path)
    if key.from_root:
        in_repository = exists(os.path.join(root, ".git"))
        there = is_folder(path) or not in_repository
    if os.path.isabs(written) or not below(root, path):
        faults.append(
            error(
                "YML047",
                f"`{node.value}` is outside the repository of the spec",
                at=node.span,
                help="write a path relative to this file, to a file or folder of this repository",
            )
        )
    elif not there and not key.default and not key.from_root:
        faults.append(
            error(
                "YML046",
                f"there is no `{shown}`",
                at=node.span,
                help="check the path; it is relative to the file that it is written in",
            )
        )
    elif there and key.lines:
        lines = _lines(shown, faults)
    whole = TextNode(node.span, node.value, node.text, node.quoted, lines, key_span=node.key_span)
    from_root = os.path.relpath(real_path(path), root)
    posix_path = from_root.replace(os.sep, "/")
    values = tuple(str(line.value) for line in lines)
    return whole, Text(at, posix_path, there, values)


def _lines(path: str, faults: list[Diagnostic]) -> list[ScalarNode]:
    file, unreadable = read(path)
    faults += unreadable
    if file is None:
        return []
    lines = []
    texts = file.text.splitlines()
    for number, line in enumerate(texts, 1):
        end = len(line) + 1
        place = Span(file, number, 1, number, end)
        lines.append(ScalarNode(place, line, line, True, key_span=place))
    return lines


def _replaced(node: Node, route: Sequence[Key], new: Node) -> Node:
    """A tree with another node at a route; what is shared with other specs stays as it is."""
    if not route:
        return new
    key = route[0]
    rest = route[1:]
    child = node.child(key)
    put = new
    if child is not None:
        put = _replaced(child, rest, new)
    if isinstance(node, MappingNode):
        items_by_key = {**node.items, str(key): put}
        return dataclasses.replace(node, items=items_by_key)
    if isinstance(node, SequenceNode):
        number = int(key)
        items = [*node.items[:number], put, *node.items[number + 1 :]]
        return dataclasses.replace(node, items=items)
    return node
