"""Finds the cluster that a job's, queue's or pool's document belongs to: in its folder or the nearest one above."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from compiler.inputs import entries, exists, read_bytes
from compiler.source.headers import CLUSTER
from compiler.source.read import is_yaml

_CLUSTER = rf"(?m)^kind:\s*[\"']?{CLUSTER}[\"']?\s*(?:#|$)".encode()


def ancestors(folder: str) -> Iterator[str]:
    """A folder, and each one above it."""
    yield folder
    while (parent := os.path.dirname(folder)) != folder:
        folder = parent
        yield folder


def cluster_folder(folder: str) -> str | None:
    """The nearest folder, from ``folder`` up to the root of its repository, with a file that holds a cluster."""
    for above in ancestors(folder):
        if any(_holds_cluster(path) for path in _files(above)):
            return above
        repository = os.path.join(above, ".git")
        if exists(repository):
            return None
    return None


def _files(folder: str) -> list[str]:
    try:
        files = [entry for entry in entries(folder) if entry.is_file()]
    except OSError:
        return []
    return [entry.path for entry in files if is_yaml(entry.name)]


def _holds_cluster(path: str) -> bool:
    try:
        return re.search(_CLUSTER, read_bytes(path)) is not None
    except OSError:
        return False
