"""Objects that leave the output but stay in the cluster, because an annotation keeps Flux from deleting them."""

from __future__ import annotations

from collections.abc import Iterable

from trainyard.eks.nodes.lower import FOLDER
from trainyard.language.diagnostics import Diagnostic, Severity
from trainyard.language.places import Route
from trainyard.output.lowering.body import is_never_pruned, object_path
from trainyard.output.manifest import Manifest
from trainyard.run.history.committed import Committed

_KIND = "NodePool"


def pools_that_stay(manifests: Iterable[Manifest], committed: Committed) -> list[Diagnostic]:
    """A note on each NodePool that continues to launch nodes although git no longer has it."""
    pools = {
        manifest.ref.name: manifest for manifest in manifests if manifest.body["kind"] == _KIND
    }
    if not pools:
        return []
    like = next(iter(pools.values()))
    notes: list[Diagnostic] = []
    for name in committed.names(FOLDER, _KIND):
        if name in pools:
            continue
        path = object_path(FOLDER, _KIND, name)
        ref = f"{_KIND}/{name}"
        old = committed.manifest(ref, path, like)
        if old is not None and is_never_pruned(old.body):
            notes.append(_stays(name))
    return notes


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
