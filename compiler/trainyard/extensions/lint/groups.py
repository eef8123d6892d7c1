"""Which files that are judged by themselves belong together: jobs without objects and the cluster nearest to them."""

from __future__ import annotations

from collections.abc import Sequence

from trainyard.extensions.lint.inputs import LintArtifact
from trainyard.verify.formats import of_clusters


def groups(alone: Sequence[LintArtifact]) -> list[list[LintArtifact]]:
    """The artifacts by cluster: a folder may have many, each with its scripts below or beside it.

    A script belongs to the clusters of its format with which it has most folders in common. What is neither stands
    together.
    """
    formats = {item.artifact.format for item in alone}
    wanted = {name: of_clusters(name) for name in formats if of_clusters(name) in formats}
    clusters = [item for item in alone if item.artifact.format in wanted.values()]
    scripts = [item for item in alone if item.artifact.format in wanted]
    if len(clusters) < 2 or not scripts:
        return [list(alone)]
    apart = {*wanted, *wanted.values()}
    others = [item for item in alone if item.artifact.format not in apart]
    by_clusters: dict[tuple[int, ...], list[LintArtifact]] = {}
    for script in scripts:
        of = wanted[script.artifact.format]
        shared = [
            _shared(script, cluster) if cluster.artifact.format == of else -1
            for cluster in clusters
        ]
        nearest = tuple(index for index, depth in enumerate(shared) if depth == max(shared))
        by_clusters.setdefault(nearest, []).append(script)
    taken = {index for nearest in by_clusters for index in nearest}
    others += [cluster for index, cluster in enumerate(clusters) if index not in taken]
    joined = [
        [*(clusters[index] for index in nearest), *members]
        for nearest, members in by_clusters.items()
    ]
    return [others, *joined] if others else joined


def _shared(one: LintArtifact, other: LintArtifact) -> int:
    """How many folders the paths of two files have in common."""
    count = 0
    for first, second in zip(_folders(one), _folders(other), strict=False):
        if first != second:
            break
        count += 1
    return count


def _folders(item: LintArtifact) -> list[str]:
    return item.artifact.path.replace("\\", "/").split("/")[:-1]
