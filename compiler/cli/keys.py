"""``explain --spec``: a key of the spec language in words, with its bound and an example."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import get_origin

from pydantic import BaseModel

from compiler.cli.streams import UsageError
from compiler.diagnostics.diagnostic import listed
from compiler.diagnostics.near import near
from compiler.regex import regex
from compiler.spec.reference import Key, all_keys, keys

_PACKAGE = Path(__file__).resolve().parent.parent
_BOUND_CELLS = 4  # of a row of docs/bounds.md: key, bound, source, what holds it
_CODE = regex(r"[A-Z]{2,4}\d{3}\Z")
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
    text += "".join(f"  {name.ljust(width)}  {value}\n" for name, value in rows)
    if key.model is not None and key.model.model_fields:
        which = f", {key.together}" if key.together else ""
        text += f"\n  keys inside{which}:\n\n{_inside(key.model)}"
    return text


def _rows(key: Key) -> Iterator[tuple[str, str]]:
    yield "type", key.kind(lambda model: "mapping")
    yield "default", key.default or "none"
    bound, source, holders = _bounds().get(key.path, (key.limits, "", ""))
    if bound:
        yield "bound", bound.replace("\\|", "|")
    if source:
        yield "source", source
    codes = [holder for holder in holders.split(", ") if _CODE.match(holder)]
    if codes:
        yield "codes", ", ".join(codes)
    for example in key.examples:
        yield "example", f"{key.name}: {example}"


def _inside(model: type[BaseModel]) -> str:
    inside = keys(model)
    width = max(len(key.name) for key in inside)
    lines = [f"    {key.name.ljust(width)}  {key.description}\n" for key in inside]
    return "".join(lines)


def _find(words: str) -> Key:
    """The key that is meant by a path; the mapping itself for a name inside one whose names are free."""
    known = {_plain(key.path): key for key in all_keys()}
    asked = _plain(words)
    for path in (asked, f"spec.{asked}"):
        if path in known:
            return known[path]
        above = known.get(path.rpartition(".")[0])
        if above is not None and get_origin(above.field.annotation) is dict:
            return above
        inside = _of_a_name(path, known)
        if inside is not None:
            return inside
    raise UsageError(f"there is no key `{words}` in a spec: {_offer(asked, known)}")


def _of_a_name(path: str, known: dict[str, Key]) -> Key | None:
    """The key inside a mapping whose names are free, where a path has one of the names: ``addons.vpc-cni.version``."""
    for key in known:
        pattern = re.escape(key).replace(r"\.NAME\.", r"\.[^.]+\.")
        if ".NAME." in key and re.fullmatch(pattern, path):
            return known[key]
    return None


def _offer(asked: str, known: dict[str, Key]) -> str:
    """The keys that may be meant: those that are written nearly so, then those of the same name elsewhere."""
    last = asked.rpartition(".")[2]
    close = near(
        f"spec.{asked.removeprefix('spec.')}",
        known,
        limit=1,
    )
    if not close:
        close = [path for path in known if path.rpartition(".")[2] == last]
    if not close:
        names = near(
            last,
            [key.name for key in known.values()],
            limit=1,
        )
        close = [path for path in known if path.rpartition(".")[2] in names]
    if not close:
        return "`trainyard explain --spec` lists all"
    if len(close) > 1:
        offered = listed(known[path].path for path in close[:_OFFERED])
        return f"write one of {offered}"
    return f"did you mean `{known[close[0]].path}`?"


def _plain(path: str) -> str:
    """A path without the indexes of lists."""
    return re.sub(r"\[\d*\]", "", path).strip(".")


@cache
def _bounds() -> dict[str, tuple[str, str, str]]:
    """Bound, source and holders of each value, from docs/bounds.md of the repository or of the wheel."""
    inside = _PACKAGE / "_bounds.md"
    page = inside if inside.is_file() else _PACKAGE.parent / "docs" / "bounds.md"
    bounds = {}
    for line in page.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) == _BOUND_CELLS and cells[0].startswith("`"):
            key, bound, source, holders = cells
            bounds[key.strip("`")] = (
                bound,
                source,
                holders,
            )
    return bounds
