"""Which objects of a tree of files make one set: a repository often holds several clusters side by side."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from compiler.emit import MANIFEST
from compiler.manifest import Manifest

T = TypeVar("T")
Parts = tuple[str, ...]
Together = Callable[[str, str], bool]


def _apart(one: str, other: str) -> bool:
    """Nothing applies two files together."""
    return False


def by_cluster(
    items: Iterable[T], manifest: Callable[[T], Manifest], together: Together = _apart
) -> list[list[T]]:
    """The items of each cluster: of each folder that Trainyard wrote, of folders beside each other that hold the same,
    and of each ClusterConfig where there are several. ``together``: whether something applies both of two files."""
    written: dict[str, list[T]] = {}
    known: dict[str, str] = {}
    for each in items:
        folder = os.path.dirname(manifest(each).path)
        if folder not in known:
            known[folder] = _written(os.path.abspath(folder))
        written.setdefault(known[folder], []).append(each)
    return [
        found
        for part in written.values()
        for side in _by_folder(part, manifest, together)
        for found in _by_config(side, manifest)
    ]


def _written(folder: str) -> str:
    """The folder of the cluster that Trainyard wrote a folder for, or nothing."""
    while not os.path.exists(os.path.join(folder, MANIFEST)):
        if folder == (folder := os.path.dirname(folder)):
            return ""
    return folder


def _by_config(items: list[T], manifest: Callable[[T], Manifest]) -> list[list[T]]:
    """Several ClusterConfigs each by itself, since nothing tells to which of them the other objects belong."""
    configs: dict[str, list[T]] = {}
    others: list[T] = []
    for each in items:
        is_config = (manifest(each).ref.group, manifest(each).ref.kind) == (
            "eksctl.io",
            "ClusterConfig",
        )
        (
            configs.setdefault(str(manifest(each).ref), []) if is_config else others
        ).append(each)
    if len(configs) < 2:
        return [items]
    return [others, *configs.values()]


def _by_folder(
    items: Sequence[T], manifest: Callable[[T], Manifest], together: Together
) -> list[list[T]]:
    """The items of each cluster; what lies outside of the clusters' folders belongs to all of them.

    Folders that hold the same objects beside each other (``clusters/dev`` and ``clusters/prod``, as Flux and Kustomize
    lay out a repository) are clusters, and so is every folder of their names: ``tenants/dev`` belongs to ``dev``.
    """
    folders = _folders([manifest(each).path for each in items])
    placed = [
        (folder, manifest(each)) for folder, each in zip(folders, items, strict=True)
    ]
    names = _alternatives(placed, together)
    if not names:
        return [list(items)]
    cluster = [
        next((part for part in folder if part in names), "") for folder in folders
    ]
    parts = [
        [each for each, own in zip(items, cluster, strict=True) if own in ("", name)]
        for name in sorted(names)
    ]
    return [found for part in parts for found in _by_folder(part, manifest, together)]


def _folders(paths: Sequence[str]) -> list[Parts]:
    """The folder of each file, below the one that they have in common."""
    names = [os.path.dirname(path) for path in paths]
    parts = {
        name: tuple(os.path.abspath(name).split(os.sep))
        for name in dict.fromkeys(names)
    }
    shared = _shared(*parts.values())
    return [parts[name][shared:] for name in names]


def _shared(*folders: Parts) -> int:
    """How many parts folders have in common from the top."""
    return next(
        (
            depth
            for depth, parts in enumerate(zip(*folders, strict=False))
            if len({*parts}) > 1
        ),
        min(map(len, folders), default=0),
    )


def _alternatives(
    placed: Sequence[tuple[Parts, Manifest]], together: Together
) -> set[str]:
    """Names of folders of which each holds at least half of what another one holds, nearest to the top."""
    first: dict[str, tuple[Parts, str]] = {}
    both: Counter[tuple[Parts, Parts]] = Counter()
    size: Counter[Parts] = Counter()
    for folder, manifest in placed:
        size.update(folder[:depth] for depth in range(1, len(folder) + 1))
        before, path = first.setdefault(str(manifest.ref), (folder, manifest.path))
        depth = _shared(before, folder)
        if depth < min(len(before), len(folder)) and not together(path, manifest.path):
            both[before[: depth + 1], folder[: depth + 1]] += 1
    pairs = [
        (one, other)
        for (one, other), count in both.items()
        if 2 * count >= min(size[one], size[other])
    ]
    top = min((len(one) for one, _ in pairs), default=0)
    return {folder[-1] for pair in pairs for folder in pair if len(folder) == top}
