"""The examples of a rule's page: the indented blocks of a section, each to its next blank line.

One that begins with ``# as the first that fails, but`` is that example with what follows laid over it, so that a reader
sees what differs and nothing else. It is read whole: who judges an example need not know how it is written.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from trainyard.language.source.libyaml import DUMPER, LOADER, yaml

LIKE = re.compile(r"# as the (\w+) that fails, but\n")
"""The first line of an example that says only in what it differs from another one."""
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
_SECTION = r"(?m)^## +(\w+)[ \t]*$"
_KEYS = ("name", "key", "pool")

Documents = list[dict[str, Any]]


def examples(doc: str, section: str) -> tuple[str, ...]:
    """The examples of a section of a docstring."""
    failing = _blocks(doc, "Fails")
    blocks = failing if section == "Fails" else _blocks(doc, section)
    return tuple(_whole(block, failing) for block in blocks)


def _blocks(doc: str, section: str) -> list[str]:
    page = textwrap.dedent(f"{_indent(doc)}{doc}")
    parts = re.split(_SECTION, page)
    sections = zip(parts[1::2], parts[2::2], strict=True)
    bodies = [text for name, text in sections if name == section]
    blocks: list[list[str]] = [[]]
    for line in "\n".join(bodies).splitlines():
        if line.startswith("    "):
            blocks[-1].append(line[4:])
        elif blocks[-1]:
            blocks.append([])
    return ["\n".join(block) + "\n" for block in blocks if block]


def _indent(doc: str) -> str:
    """The indentation of the lines after the first, which a docstring's first line lacks."""
    rest = doc.splitlines()[1:]
    lines = filter(str.strip, rest)
    indents = []
    for line in lines:
        bare = line.lstrip()
        indents.append(len(line) - len(bare))
    return " " * min(indents, default=0)


def _whole(example: str, failing: Sequence[str]) -> str:
    """An example with all that it has of another one; as it is written where there is no such other one."""
    like = LIKE.match(example)
    if like is None:
        return example
    others = dict(zip(_ORDINALS, failing, strict=False))
    other = others.get(like[1], example)
    first, changes = _documents(other), _documents(example)
    if LIKE.match(other) or not first or not changes:
        return example
    comments = [*_comments(other), *_comments(example)[1:]]
    text = yaml.dump_all(_changed(first, changes), Dumper=DUMPER, sort_keys=False)
    return "".join(f"{comment}\n" for comment in comments) + text


def _comments(example: str) -> list[str]:
    return [line for line in example.splitlines() if line.startswith("#")]


def _documents(example: str) -> Documents:
    """What an example holds, if that is keys of a spec or manifests."""
    try:
        documents = list(yaml.load_all(example, Loader=LOADER))
    except (yaml.YAMLError, ValueError):  # no YAML, or no such day
        return []
    return documents if all(isinstance(each, dict) for each in documents) else []


def _changed(first: Documents, changes: Documents) -> Documents:
    """Documents with others laid over them, each over the one of its kind and name, or with most of its keys."""
    documents = list(first)
    for change in changes:
        alike = [number for number, each in enumerate(documents) if _same(each, change)]
        if not alike:
            documents.append(change)
            continue
        number = max(alike, key=lambda number: len(documents[number].keys() & change.keys()))
        documents[number] = laid(documents[number], change)
    return documents


def _same(document: Mapping[str, Any], change: Mapping[str, Any]) -> bool:
    """Whether a change is about a document: what is no object has neither kind nor name."""
    return document.get("kind") == change.get("kind") and _name(change) in (None, _name(document))


def _name(document: Mapping[str, Any]) -> Any:
    metadata = document.get("metadata")
    return metadata.get("name") if isinstance(metadata, Mapping) else None


def laid(base: Any, change: Any) -> Any:
    """A change over a value: mappings by key, lists by `name`, `key`, `pool` or position. What speaks of the base
    (`null`, `$patch`) stays in it."""
    if isinstance(base, Mapping) and isinstance(change, Mapping):
        if change.get("$patch") == "replace":
            return change
        return {
            **base,
            **{k: laid(base[k], value) if k in base else value for k, value in change.items()},
        }
    if _of_mappings(base) and _of_mappings(change):
        items = list(base)
        for position, item in enumerate(change):
            index = _position(items, item, position)
            if index is None:
                items.append(item)
            else:
                items[index] = laid(items[index], item)
        return items
    return change


def _of_mappings(value: Any) -> bool:
    if not isinstance(value, list):
        return False
    return all(isinstance(item, Mapping) for item in value)


def _position(items: Sequence[Any], change: Mapping[str, Any], position: int) -> int | None:
    """The item that a change is about: of the same name, or at the same place where it has none."""
    key = next((key for key in _KEYS if key in change), None)
    if key is None:
        return position if position < len(items) else None
    for index, item in enumerate(items):
        if item.get(key) == change[key]:
            return index
    return None
