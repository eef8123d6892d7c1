"""Finds the cluster that a job's, queue's or pool's document belongs to, in its folder or the nearest one above; and
the files that belong to a cluster."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from trainyard.disk.inputs import entries, exists, holds_text, read_bytes
from trainyard.language.source.headers import CLUSTER
from trainyard.language.source.read import is_yaml

_NAMES_CLUSTER = b"cluster:"


def _kind_is(names: Iterable[str]) -> bytes:
    """Matches files with a document of one of some kinds."""
    return rf"(?m)^kind:\s*[\"']?(?:{'|'.join(names)})[\"']?\s*(?:#|$)".encode()


_CLUSTER = _kind_is([CLUSTER])


def ancestors(folder: str) -> Iterator[str]:
    """A folder, and each one above it."""
    yield folder
    while (parent := os.path.dirname(folder)) != folder:
        folder = parent
        yield folder


def cluster_folder(folder: str) -> str | None:
    """The nearest folder, from ``folder`` up to the root of its repository, with a file that holds a cluster."""
    for above in ancestors(folder):
        if any(holds_cluster(path) for path in _files(above)):
            return above
        repository = os.path.join(above, ".git")
        if exists(repository):
            return None
    return None


def belongs_to(path: str, home: str, kinds: Iterable[str]) -> bool:
    """Whether a file below the folder of a cluster may hold it, or documents of ``kinds`` that are parts of it. It is
    not parsed: what holds neither may be broken."""
    folder = os.path.dirname(os.path.abspath(path))
    if folder == home and holds_cluster(path):
        return True
    try:
        content = read_bytes(path)
    except OSError:
        return False
    if not re.search(_kind_is(kinds), content):
        return False
    return _NAMES_CLUSTER in content or cluster_folder(folder) == home


def _files(folder: str) -> list[str]:
    try:
        files = [entry for entry in entries(folder) if holds_text(entry)]
    except OSError:
        return []
    return [entry.path for entry in files if is_yaml(entry.name)]


def holds_cluster(path: str) -> bool:
    """Whether a file says that it holds a cluster."""
    try:
        return re.search(_CLUSTER, read_bytes(path)) is not None
    except OSError:
        return False
