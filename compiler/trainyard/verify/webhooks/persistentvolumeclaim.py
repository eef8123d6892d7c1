"""PersistentVolumeClaim (k8s.io/kubernetes v1.36, pkg/apis/core/validation; binding: k8s.io/component-helpers
storage/volume).
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.language.diagnostics.diagnostic import listed
from trainyard.output.body import value_at
from trainyard.output.manifest import Body
from trainyard.verify.amounts import amount
from trainyard.verify.fault import Fault, never_works, refused
from trainyard.verify.webhooks import Lookup

GROUP = ""


_REQUEST = ("spec", "resources", "requests", "storage")


def check(body: Body, lookup: Lookup) -> Iterator[Fault]:
    spec = value_at(body, "spec") or {}
    if value_at(body, *_REQUEST) is None:
        message = "a claim without `resources.requests.storage`"
        help = "write `resources: {requests: {storage: …}}`"
        yield refused(_REQUEST, message, help)
        return
    name = str(spec.get("volumeName") or "")
    volume = lookup("", "PersistentVolume", "", name)
    if volume is not None:
        yield from _size(body, volume)
        yield from _modes(body, volume)
        yield from _class(body, volume)
        yield from _reserved(body, volume)


def _size(body: Body, volume: Body) -> Iterator[Fault]:
    wanted = value_at(body, *_REQUEST)
    capacity = value_at(volume, "spec", "capacity", "storage")
    size = amount(wanted)
    room = amount(capacity)
    if size is None or room is None:
        return
    if size > room:
        name = value_at(body, "spec", "volumeName")
        message = f"claim of {wanted} on volume `{name}` of {capacity} never binds"
        yield never_works(_REQUEST, message, "ask for at most what the volume has")


def _modes(body: Body, volume: Body) -> Iterator[Fault]:
    offered = value_at(volume, "spec", "accessModes")
    if not isinstance(offered, list):
        return
    modes = value_at(body, "spec", "accessModes") or ()
    missing = sorted(mode for mode in modes if mode not in offered)
    if missing:
        name = value_at(body, "spec", "volumeName")
        message = f"volume `{name}` does not offer {listed(missing)}: never bound"
        help = "write an access mode of the volume"
        yield never_works(("spec", "accessModes"), message, help)


def _class(body: Body, volume: Body) -> Iterator[Fault]:
    own = value_at(body, "spec", "storageClassName")
    of_volume = value_at(volume, "spec", "storageClassName") or ""
    if own is not None and own != of_volume:
        name = value_at(body, "spec", "volumeName")
        message = f"claim has storage class `{own}`, volume `{name}` has `{of_volume}`: never bound"
        help = 'make both the same; `""` is no class'
        yield never_works(("spec", "storageClassName"), message, help)


def _reserved(body: Body, volume: Body) -> Iterator[Fault]:
    """A volume with ``claimRef`` is bound by that claim only (Kubernetes, persistent volumes)."""
    keys = ("namespace", "name")
    held = [value_at(volume, "spec", "claimRef", key) for key in keys]
    ours = [value_at(body, "metadata", key) for key in keys]
    are_known = all(held) and all(ours)
    if are_known and held != ours:
        name = value_at(body, "spec", "volumeName")
        shown = "/".join(map(str, held))
        yield never_works(
            ("spec", "volumeName"),
            f"volume `{name}` is kept for claim `{shown}`: never bound",
            help="make `claimRef` of the volume and the claim's namespace and name the same",
        )
