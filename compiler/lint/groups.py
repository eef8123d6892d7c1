"""Which files that are judged by themselves belong together: scripts of Slurm and the cluster nearest to them."""

from __future__ import annotations

from collections.abc import Sequence

from compiler.lint.inputs import LintArtifact

_CLUSTER, _SCRIPT = "parallelcluster", "sbatch"


def groups(alone: Sequence[LintArtifact]) -> list[list[LintArtifact]]:
    """The artifacts by cluster of Slurm: a folder may have many, each with its scripts below or beside it.

    A script belongs to the clusters with which it has most folders in common. What is neither stands together.
    """
    clusters = [item for item in alone if item.artifact.format == _CLUSTER]
    scripts = [item for item in alone if item.artifact.format == _SCRIPT]
    if len(clusters) < 2 or not scripts:
        return [list(alone)]
    others = [item for item in alone if item.artifact.format not in (_CLUSTER, _SCRIPT)]
    by_clusters: dict[tuple[int, ...], list[LintArtifact]] = {}
    for script in scripts:
        shared = [_shared(script, cluster) for cluster in clusters]
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
