"""Edits that neither eksctl nor EKS applies to an existing managed node group.

Sources: EKS API, UpdateNodegroupConfig (labels, taints, sizes, update and repair settings, and nothing else); eksctl
v0.230.0, pkg/actions/nodegroup (scale, upgrade).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from trainyard.eks.cluster.lower import NODE_GROUPS
from trainyard.language.diagnostics import Diagnostic
from trainyard.language.diagnostics.diagnostic import warning
from trainyard.output.body import mappings_at
from trainyard.output.manifest import Manifest
from trainyard.run.history.committed import Committed

CHANGEABLE = frozenset(
    {
        "minSize",
        "maxSize",
        "desiredCapacity",
        "labels",
        "taints",
        "nodeRepairConfig",
        "releaseVersion",
    }
)
"""Keys of a group that eksctl and EKS apply to nodes that exist, or to their number."""


def groups_to_recreate(manifests: Iterable[Manifest], committed: Committed) -> Iterator[Diagnostic]:
    """Managed node groups with an edit that only takes effect once the group is recreated."""
    for manifest in manifests:
        if not manifest.path.startswith(f"{NODE_GROUPS}/"):
            continue
        old = committed.template(manifest.path)
        if old is None or old == manifest.body:
            continue
        changed = _changed(old, manifest.body)
        if changed:
            yield _recreated(manifest, changed)


def _changed(old: Any, new: Any) -> list[str]:
    groups = mappings_at(old, "managedNodeGroups")
    if not groups:  # edited by hand
        return []
    before = groups[-1]
    (after,) = mappings_at(new, "managedNodeGroups")
    keys = dict.fromkeys((*before, *after))
    fixed = [key for key in keys if key not in CHANGEABLE]
    return [key for key in fixed if before.get(key) != after.get(key)]


def _recreated(manifest: Manifest, changed: list[str]) -> Diagnostic:
    file = manifest.path.rpartition("/")[2]
    name = file.removesuffix(".yaml")
    place = ("managedNodeGroups", 0, changed[0])
    return warning(
        "CHG027",
        f"node group `{name}` keeps its `{changed[0]}` until it is recreated",
        manifest.origin(place),
        help="when no job runs on it, run `eksctl delete nodegroup` and `eksctl create nodegroup`, as the page of its "
        "pool in `bootstrap/pools/` shows",
    )
