"""``explain --spec``: a key of the spec language in words, with its bound and an example."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import get_origin

from pydantic import BaseModel

from trainyard.cli.streams import UsageError
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.diagnostics.near import near
from trainyard.run.language.reference import Key, all_keys, keys

_OFFERED = 3


def key_rows() -> list[tuple[str, str]]:
    """Every key of the language with its sentence."""
    return [(key.path, key.description) for key in all_keys()]


def explain_key(words: str) -> str:
    """What is known of a key: ``spec.jobs.checkpoint``, with or without ``spec.`` and the indexes of lists."""
    key = _find(words)
    text = f"{key.path}\n\n  {key.description}\n\n"
    rows = list(_rows(key))
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        padded = name.ljust(width)
        text += f"  {padded}  {value}\n"
    if key.model is not None and key.model.model_fields:
        if key.together:
            which = f", {key.together}"
        else:
            which = ""
        text += f"\n  keys inside{which}:\n\n"
        text += _inside(key.model)
    return text


def _rows(key: Key) -> Iterator[tuple[str, str]]:
    yield "type", key.kind(lambda model: "mapping")
    yield "default", key.default or "none"
    if key.bound is not None:
        yield "bound", key.bound.text
        yield "source", key.bound.source
        if key.bound.codes:
            yield "codes", ", ".join(key.bound.codes)
    elif key.limits:
        yield "bound", key.limits
    for example in key.examples:
        yield "example", f"{key.name}: {example}"


def _inside(model: type[BaseModel]) -> str:
    inside = keys(model)
    width = max(len(key.name) for key in inside)
    text = ""
    for key in inside:
        padded = key.name.ljust(width)
        text += f"    {padded}  {key.description}\n"
    return text


def _find(words: str) -> Key:
    """The key that is meant by a path; the mapping itself for a name inside one whose names are free."""
    known = {_plain(key.path): key for key in all_keys()}
    asked = _plain(words)
    for path in (asked, f"spec.{asked}"):
        if path in known:
            return known[path]
        above = known.get(path.rpartition(".")[0])
        if above is not None:
            annotation = above.field.annotation
            if get_origin(annotation) is dict:
                return above
        inside = _of_a_name(path, known)
        if inside is not None:
            return inside
    hint = _offer(asked, known)
    raise UsageError(f"there is no key `{words}` in a spec: {hint}")


def _of_a_name(path: str, known: dict[str, Key]) -> Key | None:
    """The key inside a mapping whose names are free, where a path has one of the names: ``addons.vpc-cni.version``."""
    for key in known:
        pattern = re.escape(key).replace(r"\.NAME\.", r"\.[^.]+\.")
        if ".NAME." in key and re.fullmatch(pattern, path):
            return known[key]
    return None


def _offer(asked: str, known: dict[str, Key]) -> str:
    """The keys that may be meant: those that are written nearly so, then those of the same name elsewhere."""
    last = _last(asked)
    close = near(f"spec.{asked.removeprefix('spec.')}", known, limit=1)
    if not close:
        close = [path for path in known if _last(path) == last]
    if not close:
        names = near(last, [key.name for key in known.values()], limit=1)
        close = [path for path in known if _last(path) in names]
    if not close:
        return "`trainyard explain --spec` lists all"
    if len(close) > 1:
        paths = [known[path].path for path in close[:_OFFERED]]
        return f"write one of {listed(paths)}"
    return f"did you mean `{known[close[0]].path}`?"


def _last(path: str) -> str:
    return path.rpartition(".")[2]


def _plain(path: str) -> str:
    """A path without the indexes of lists."""
    return re.sub(r"\[\d*\]", "", path).strip(".")
