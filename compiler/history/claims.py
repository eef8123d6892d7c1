"""Claims keep the size that they were made with.

The API server refuses another size for a claim without an expandable storage class (Kubernetes 1.35, API validation
of PersistentVolumeClaims: only dynamically provisioned claims can be resized). What a claim says does not bound what
pods write to a file system that exists: the PersistentVolume's capacity follows the spec.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from compiler.history.committed import Committed
from compiler.manifest import Body, Manifest
from compiler.plan.units import Quantity

_KIND = "PersistentVolumeClaim"


def with_kept_sizes(
    manifests: Iterable[Manifest], committed: Committed
) -> list[Manifest]:
    """Every claim whose file system has grown since with the size that it was made with."""
    return [
        _kept(manifest, committed) if manifest.body["kind"] == _KIND else manifest
        for manifest in manifests
    ]


def _kept(new: Manifest, committed: Committed) -> Manifest:
    if committed.holds(new):
        return new
    old = committed.manifest(str(new.ref), new.path, new)
    if old is None:
        return new
    before, now = _size(old.body), _size(new.body)
    if before is None or now is None or before >= now:
        return new
    resources = {
        **new.body["spec"]["resources"],
        "requests": old.body["spec"]["resources"]["requests"],
    }
    return replace(
        new, body={**new.body, "spec": {**new.body["spec"], "resources": resources}}
    )


def _size(body: Body) -> Quantity | None:
    try:
        size: Any = body["spec"]["resources"]["requests"]["storage"]
        return Quantity.parse(str(size))
    except (KeyError, TypeError, ValueError):
        return None
