"""Pages with commands that people run: every file and object that a page names must exist.

Nobody publishes a schema of a page, so it is judged by what can be judged: each block ends, the quotes of its shell are
closed, the files of the cluster's folder that links and commands name are written, and every resource that `kubectl` is
asked for by its group is of a group that a schema is known of.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any

from trainyard.language.diagnostics import Diagnostic
from trainyard.language.diagnostics.diagnostic import error
from trainyard.language.diagnostics.near import name_meant
from trainyard.language.places import Route
from trainyard.language.shellwords import split
from trainyard.output.artifact import Artifact, group_of
from trainyard.plan import PlanItem
from trainyard.verify.formats import Setting
from trainyard.verify.schemas import BUILTIN

LATE = True
TAGS: Mapping[str, str] = {}

_FENCE = r"(?m)^```(\w*)[^\n]*$"
_LINK = r"\]\(([^)\s]+)\)"
_URL = r"[a-z][a-z0-9+.-]*:|#"
_PATH = r"[\w./-]+"
_RESOURCE = r"\A[a-z0-9-]+\.([a-z0-9.-]+\.[a-z]{2,})\Z"
_UNKNOWN = r"[$*?]|\bNAME\b"


def verified(artifacts: Sequence[Artifact], setting: Setting) -> list[Diagnostic]:
    """What a page names and is not there, and shell that does not end."""
    whole = (*setting.others, *artifacts)
    files = {artifact.path for artifact in whole}
    folders = {folder for path in files for folder in _folders(path)}
    diagnostics: list[Diagnostic] = []
    for page in artifacts:
        at = Route((page.id,))
        name = str(page.ref)
        faults = _faults(page, files | folders, setting.folder)
        for fault in faults:
            placed = replace(fault, at=at, object=name)
            diagnostics.append(placed)
    return diagnostics


def _faults(page: Artifact, written: set[str], folder: str) -> Iterator[Diagnostic]:
    text = page.content
    yield from _links(page.path, text, written)
    parts = re.split(_FENCE, text)  # prose, language, block, "", prose, …
    if len(parts) % 4 != 1:
        yield error(
            "SCH012", f"a block of `{page.path}` does not end", help="close it with three backticks"
        )
    blocks = zip(parts[1::4], parts[2::4], strict=False)
    for language, block in blocks:
        if language in ("sh", "bash"):
            yield from shell_faults(page.path, block, written, folder)


def _links(path: str, text: str, written: set[str]) -> Iterator[Diagnostic]:
    for target in re.findall(_LINK, text):
        if re.match(_URL, target):
            continue
        file = target.partition("#")[0]
        folder = os.path.dirname(path)
        beside = os.path.join(folder, file)
        place = os.path.normpath(beside)
        if place not in written:
            what = f"`{path}` links to `{target}`"
            yield _absent(path, what, place, written)


def shell_faults(path: str, block: str, written: set[str], folder: str) -> Iterator[Diagnostic]:
    """What is wrong with shell of a page or script at ``path``; ``written``: every file and folder of the cluster's
    folder, which the repository has at ``folder``."""
    try:
        words = _distinct_words(block)
    except ValueError as fault:
        yield error(
            "SCH012",
            f"the shell of `{path}` cannot be run: {str(fault).lower()}",
            help="close the quotation",
        )
        return
    for word in words:
        yield from _files(path, word, written, folder)
        resource = re.match(_RESOURCE, word.partition(",")[0])
        if resource is None:
            continue
        group, groups = resource[1], _groups()
        if group not in groups and _is_asked_of_kubectl(block, word):
            yield error(
                "REF001",
                f"`{path}` asks `kubectl` for `{word}`, of a group that nothing here has",
                help=name_meant(group, groups) or "name the group of a kind",
            )


@lru_cache(maxsize=128)
def _distinct_words(block: str) -> tuple[str, ...]:
    """The words of shell; clusters share most of their scripts."""
    return tuple(dict.fromkeys(split(block, comments=True)))


def _is_asked_of_kubectl(block: str, word: str) -> bool:
    """Whether a word is what a command of `kubectl` is about."""
    lines = block.replace("\\\n", " ").splitlines()
    of_kubectl = [line for line in lines if "kubectl " in line]
    return any(f" {word}" in line for line in of_kubectl)


def _files(path: str, word: str, written: set[str], folder: str) -> Iterator[Diagnostic]:
    """The files of the cluster's folder that a word names."""
    root = f"{folder}/"
    if not folder or root not in word:
        return
    if re.search(_UNKNOWN, word):
        return
    below = word.partition(root)[2]
    inside = re.match(_PATH, below)
    if inside is None:
        return
    place = inside[0].rstrip("/.")
    if place not in written:
        what = f"a command of `{path}` names `{word}`"
        yield _absent(path, what, place, written)


def _absent(path: str, what: str, place: str, written: set[str]) -> Diagnostic:
    return error(
        "REF001",
        f"{what}, and no such file is written",
        help=name_meant(place, written) or "name a file of the cluster's folder",
    )


def _folders(path: str) -> Iterator[str]:
    folder = path.rpartition("/")[0]
    while folder:
        yield folder
        folder = folder.rpartition("/")[0]


@cache
def _groups() -> frozenset[str]:
    groups: set[str] = set()
    for versions in BUILTIN.served().values():
        of_kind = (group_of(version) for version in versions)
        groups.update(of_kind)
    return frozenset(groups)


def lifted(artifacts: Sequence[Artifact], *, closed: bool) -> Iterable[PlanItem]:
    """No nodes: a page, or a script (``shell``), holds none of the plan."""
    return ()


def hinted(text: str) -> bool:
    """Pages and scripts of third parties are not read."""
    return False


def recognised(body: Any) -> bool:
    """Pages and scripts of third parties are not read."""
    return False


def parts(artifact: Artifact) -> Iterable[tuple[str, bool]]:
    """No objects: text for people is not counted."""
    return ()


def written(artifact: Artifact) -> bytes:
    """The text as it is."""
    return artifact.content.encode()
