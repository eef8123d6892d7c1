"""Which objects of a tree of files form one set: a repository often holds several clusters side by side."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from trainyard.disk.inputs import exists
from trainyard.output.emit import MANIFEST
from trainyard.output.manifest import Manifest

T = TypeVar("T")
Parts = tuple[str, ...]
_Placed = tuple[Parts, str]
"""The folder of an object, and its path."""
Together = Callable[[str, str], bool]
_FEW = 300
_TIMES = 3
_COPIES = 4
"""How many times as many objects all clusters of a tree have together, at most: folders in folders multiply them."""


def is_too_much(judged: int, objects: int) -> bool:
    """Whether so many objects, some of them several, are more to judge than a set of ``objects`` is worth: each of a
    large set three times, so that the time is that of the objects; those of a small one as often as it takes."""
    return judged > max(_FEW, _TIMES * objects)


def _separate(one: str, other: str) -> bool:
    """Nothing applies two files together."""
    return False


def by_cluster(
    items: Iterable[T], manifest: Callable[[T], Manifest], together: Together = _separate
) -> list[list[T]]:
    """The items of each cluster: of each folder that Trainyard wrote, of sibling folders that hold the same,
    and of each ClusterConfig where there are several. ``together``: whether something applies both of two files."""
    roots: dict[str, str] = {}
    by_root: dict[str, list[T]] = {}
    for item in items:
        folder = os.path.dirname(manifest(item).path)
        if folder not in roots:
            roots[folder] = _generated_root(os.path.abspath(folder))
        root_items = by_root.setdefault(roots[folder], [])
        root_items.append(item)
    clusters: list[list[T]] = []
    for root_items in by_root.values():
        most = max(_FEW, _COPIES * len(root_items))
        for folder_items in _by_folder(root_items, manifest, together, most):
            clusters += _by_config(folder_items, manifest)
    return clusters


def _generated_root(folder: str) -> str:
    """The folder that Trainyard wrote for a cluster, at a folder or above it; empty where there is none."""
    while not exists(os.path.join(folder, MANIFEST)):
        parent = os.path.dirname(folder)
        if parent == folder:
            return ""
        folder = parent
    return folder


def _by_config(items: list[T], manifest: Callable[[T], Manifest]) -> list[list[T]]:
    """Several ClusterConfigs each by itself, since nothing says to which of them the other objects belong.

    Those for the node groups of a pool are parts of their cluster's (``ref_of``).
    """
    configs: dict[str, list[T]] = {}
    others: list[T] = []
    for item in items:
        ref = manifest(item).ref
        if ref.kind != "ClusterConfig" or ref.group != "eksctl.io":
            others.append(item)
            continue
        cluster, _, _ = ref.name.partition("/")
        config_items = configs.setdefault(cluster, [])
        config_items.append(item)
    if len(configs) < 2:
        return [items]
    return [others, *configs.values()]


def _by_folder(
    items: Sequence[T], manifest: Callable[[T], Manifest], together: Together, most: int
) -> list[list[T]]:
    """The items of each cluster, ``most`` of them at most; what lies outside of the clusters' folders belongs to all.

    Sibling folders that hold the same objects (``clusters/dev`` and ``clusters/prod``, as Flux and Kustomize
    lay out a repository) are clusters, and so is every folder of their names: ``tenants/dev`` belongs to ``dev``. Of
    many clusters what belongs to all is one more, so that the time is that of the objects.
    """
    manifests = [manifest(item) for item in items]
    folders = _folders([placed.path for placed in manifests])
    names = _alternatives(folders, manifests, together)
    if not names:
        return [list(items)]
    by_name: dict[str, list[T]] = {}
    shared: list[T] = []
    for item, folder in zip(items, folders, strict=True):
        own = [part for part in folder if part in names]
        if own:
            by_name.setdefault(own[0], []).append(item)
        else:
            shared.append(item)
    if len(by_name) < 2:
        return [list(items)]  # one of the folders has the name of one above all of them
    by_name = dict(sorted(by_name.items()))
    if len(shared) * len(by_name) > most:
        return [*_each(by_name, manifest, together, most), shared]
    by_name = {name: _in_order(items, [*own, *shared]) for name, own in by_name.items()}
    return _each(by_name, manifest, together, most)


def _each(
    by_name: Mapping[str, Sequence[T]],
    manifest: Callable[[T], Manifest],
    together: Together,
    most: int,
) -> list[list[T]]:
    """The clusters in each of several, which have ``most`` items together."""
    clusters: list[list[T]] = []
    share = most // len(by_name)
    for named_items in by_name.values():
        clusters += _by_folder(named_items, manifest, together, share)
    return clusters


def _in_order(items: Sequence[T], some: Iterable[T]) -> list[T]:
    """Some of the items, in the order of all."""
    chosen = set(map(id, some))
    return [item for item in items if id(item) in chosen]


def _folders(paths: Sequence[str]) -> list[Parts]:
    """The folder of each file, below the one that they have in common."""
    names = [os.path.dirname(path) for path in paths]
    parts: dict[str, Parts] = {}
    for name in names:
        if name not in parts:
            path = os.path.abspath(name)
            parts[name] = tuple(path.split(os.sep))
    depth = _shared_depth(*parts.values())
    return [parts[name][depth:] for name in names]


def _fork(one: Parts, other: Parts) -> tuple[Parts, Parts] | None:
    """The two folders in which the paths to two folders part; ``None`` where one holds the other."""
    depth = _shared_depth(one, other)
    if depth in (len(one), len(other)):
        return None
    end = depth + 1
    return one[:end], other[:end]


def _shared_depth(*folders: Parts) -> int:
    """How many parts folders have in common from the top."""
    depth = 0
    for parts in zip(*folders, strict=False):
        if len({*parts}) > 1:
            break
        depth += 1
    return depth


def _alternatives(
    folders: Sequence[Parts], manifests: Sequence[Manifest], together: Together
) -> set[str]:
    """Names of folders of which each holds at least half of what another one holds, nearest to the top."""
    if len(set(folders)) < 2:
        return set()
    first: dict[str, _Placed] = {}
    in_both: Counter[tuple[Parts, Parts]] = Counter()
    size: Counter[Parts] = Counter()
    for folder, manifest in zip(folders, manifests, strict=True):
        for depth in range(len(folder)):
            size[folder[: depth + 1]] += 1
        ref = str(manifest.ref)
        before, path = first.setdefault(ref, (folder, manifest.path))
        fork = _fork(before, folder)
        if fork is None:
            continue
        if not together(path, manifest.path):
            in_both[fork] += 1
    alternatives: set[Parts] = set()
    for (one, other), count in in_both.items():
        smaller = min(size[one], size[other])
        if 2 * count >= smaller:
            alternatives |= {one, other}
    top = min(map(len, alternatives), default=0)
    return {folder[-1] for folder in alternatives if len(folder) == top}
