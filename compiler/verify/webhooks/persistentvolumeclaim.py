"""PersistentVolumeClaim (k8s.io/kubernetes v1.36, pkg/apis/core/validation; binding: k8s.io/component-helpers
storage/volume).
"""

from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics.diagnostic import listed
from compiler.manifest import Body
from compiler.output.body import at
from compiler.verify.amounts import amount
from compiler.verify.fault import Fault, never_works, refused
from compiler.verify.webhooks import Lookup

GROUP = ""


def check(body: Body, lookup: Lookup) -> Iterator[Fault]:
    spec = at(body, "spec") or {}
    wanted = at(spec, "resources", "requests", "storage")
    if wanted is None:
        yield refused(
            ("spec", "resources", "requests", "storage"),
            "a claim without `resources.requests.storage`",
            help="write `resources: {requests: {storage: …}}`",
        )
    volume = lookup("", "PersistentVolume", "", str(spec.get("volumeName") or ""))
    if volume is None or wanted is None:
        return
    held = at(volume, "spec", "capacity", "storage")
    size, room = amount(wanted), amount(held)
    if size is not None and room is not None and size > room:
        path = ("spec", "resources", "requests", "storage")
        yield never_works(
            path,
            f"claim of {wanted} on volume `{spec['volumeName']}` of {held} never binds",
            help="ask for at most what the volume has",
        )
    offered = at(volume, "spec", "accessModes")
    modes = spec.get("accessModes") or ()
    missing = sorted(
        each for each in modes if isinstance(offered, list) and each not in offered
    )
    if missing:
        named = listed(missing)
        yield never_works(
            ("spec", "accessModes"),
            f"volume `{spec['volumeName']}` does not offer {named}: never bound",
            help="write an access mode of the volume",
        )
    ours, theirs = (
        spec.get("storageClassName"),
        at(volume, "spec", "storageClassName") or "",
    )
    if ours is not None and ours != theirs:
        message = f"claim has storage class `{ours}`, volume `{spec['volumeName']}` has `{theirs}`: never bound"
        yield never_works(
            ("spec", "storageClassName"),
            message,
            help='make both the same; `""` is no class',
        )
    yield from _reserved(body, volume)


def _reserved(body: Body, volume: Body) -> Iterator[Fault]:
    """A volume with ``claimRef`` is bound by that claim only (Kubernetes, persistent volumes)."""
    held = [at(volume, "spec", "claimRef", key) for key in ("namespace", "name")]
    ours = [at(body, "metadata", key) for key in ("namespace", "name")]
    if all(held) and all(ours) and held != ours:
        name, shown = at(body, "spec", "volumeName"), "/".join(map(str, held))
        yield never_works(
            ("spec", "volumeName"),
            f"volume `{name}` is kept for claim `{shown}`: never bound",
            help="make `claimRef` of the volume and the claim's namespace and name the same",
        )
