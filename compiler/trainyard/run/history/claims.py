"""Edits of the size of a PersistentVolumeClaim: claims keep the size that they were created with.

The API server refuses another size for a claim without an expandable storage class (Kubernetes 1.35, API validation
of PersistentVolumeClaims: only dynamically provisioned claims can be resized). What a claim says does not bound what
pods write to a file system that exists: the PersistentVolume's capacity follows the spec.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from trainyard.language.units import Quantity
from trainyard.output.manifest import Body, Manifest
from trainyard.run.history.committed import Committed

_KIND = "PersistentVolumeClaim"


def keep_claim_sizes(manifests: Iterable[Manifest], committed: Committed) -> list[Manifest]:
    """The manifests; every claim whose file system has grown since has the size that it was created with."""
    return [_keep_size(manifest, committed) for manifest in manifests]


def _keep_size(new: Manifest, committed: Committed) -> Manifest:
    if new.body["kind"] != _KIND:
        return new
    if committed.holds(new):
        return new
    old = committed.manifest(str(new.ref), new.path, new)
    if old is None:
        return new
    before = _size(old.body)
    now = _size(new.body)
    if before is None or now is None:
        return new
    if before >= now:
        return new
    requests = old.body["spec"]["resources"]["requests"]
    spec = dict(new.body["spec"])
    spec["resources"] = {**spec["resources"], "requests": requests}
    return replace(new, body={**new.body, "spec": spec})


def _size(body: Body) -> Quantity | None:
    try:
        requests: Any = body["spec"]["resources"]["requests"]
        size = requests["storage"]
        return Quantity.parse(str(size))
    except (KeyError, TypeError, ValueError):
        return None
