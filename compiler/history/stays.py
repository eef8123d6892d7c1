"""Objects that leave the output and stay in the cluster, because Flux is told not to delete them."""

from __future__ import annotations

from collections.abc import Iterable

from compiler.diagnostics import Diagnostic, Severity
from compiler.history.committed import Committed
from compiler.manifest import Manifest
from compiler.source import Route
from compiler.subjects.pools.target import FOLDER
from compiler.targets.body import object_path

_KIND = "NodePool"
_PRUNE = "kustomize.toolkit.fluxcd.io/prune"


def pools_that_stay(
    manifests: Iterable[Manifest], committed: Committed
) -> list[Diagnostic]:
    """The note on each NodePool that goes on buying nodes although nothing of it is left in git."""
    pools = {
        manifest.ref.name: manifest
        for manifest in manifests
        if manifest.body["kind"] == _KIND
    }
    like = next(iter(pools.values()), None)
    found: list[Diagnostic] = []
    for name in committed.names(FOLDER, _KIND):
        path = object_path(FOLDER, _KIND, name)
        old = (
            committed.manifest(f"{_KIND}/{name}", path, like)
            if like is not None and name not in pools
            else None
        )
        annotations = (
            old.body["metadata"].get("annotations", {}) if old is not None else {}
        )
        if annotations.get(_PRUNE) == "disabled":
            found.append(_stays(name))
    return found


def _stays(pool: str) -> Diagnostic:
    return Diagnostic(
        "CHG007",
        Severity.NOTE,
        f"NodePool `{pool}` leaves the output and stays in the cluster with its nodes",
        Route(("spec", "nodePools")),
        key=True,
        label="Flux deletes no pool of reserved capacity",
        help=f"`kubectl delete nodepool,ec2nodeclass {pool}` when no run needs its nodes any more",
    )
