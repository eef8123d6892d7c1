"""PersistentVolume: exactly one source (k8s.io/kubernetes v1.36, pkg/apis/core/validation
ValidatePersistentVolumeSpec).
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.language.diagnostics.diagnostic import listed
from trainyard.output.body import at
from trainyard.output.manifest import Body
from trainyard.verify.fault import Fault, refused
from trainyard.verify.webhooks import Lookup

GROUP = ""
_NOT_SOURCES = frozenset(
    {
        "accessModes",
        "capacity",
        "claimRef",
        "mountOptions",
        "nodeAffinity",
        "persistentVolumeReclaimPolicy",
        "storageClassName",
        "volumeAttributesClassName",
        "volumeMode",
    }
)


def check(body: Body, lookup: Lookup) -> Iterator[Fault]:
    spec = at(body, "spec") or {}
    sources = sorted(
        key for key, value in spec.items() if value is not None and key not in _NOT_SOURCES
    )
    if len(sources) != 1:
        got = listed(sources, " and ") or "none"
        yield refused(
            ("spec",),
            f"a volume has exactly one source, there is {got}",
            help="keep one source, like `csi`",
        )
    if not at(spec, "capacity", "storage"):
        yield refused(
            ("spec", "capacity", "storage"),
            "a volume without `capacity.storage`",
            help="write `capacity: {storage: …}`",
        )
