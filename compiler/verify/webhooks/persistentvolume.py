"""PersistentVolume: exactly one source (k8s.io/kubernetes v1.36, pkg/apis/core/validation
ValidatePersistentVolumeSpec).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from compiler.manifest import Body
from compiler.verify.fault import Fault, never_works, refused
from compiler.verify.objects import at
from compiler.verify.webhooks import Lookup

GROUP = ""
_NOT_SOURCES = frozenset({
    "accessModes", "capacity", "claimRef", "mountOptions", "nodeAffinity", "persistentVolumeReclaimPolicy",
    "storageClassName", "volumeAttributesClassName", "volumeMode",
})  # fmt: skip


def check(body: Body, lookup: Lookup) -> Iterator[Fault]:
    spec = at(body, "spec") or {}
    sources = sorted(key for key, value in spec.items() if value is not None and key not in _NOT_SOURCES)
    if len(sources) != 1:
        got = " and ".join(f"`{source}`" for source in sources) or "none"
        yield refused(("spec",), f"a volume has exactly one source, there is {got}", help="keep one source, like `csi`")
    yield from _lustre(at(spec, "csi"))
    if not at(spec, "capacity", "storage"):
        yield refused(("spec", "capacity", "storage"), "a volume without `capacity.storage`",
                      help="write `capacity: {storage: …}`")


def _lustre(csi: Any) -> Iterator[Fault]:
    """A volume is mounted by its DNS name, whatever its handle says (aws-fsx-csi-driver v1.9.0)."""
    name = str(at(csi, "volumeAttributes", "dnsname") or "")
    handle, host = (_FILE_SYSTEM.match(each) for each in (str(at(csi, "volumeHandle") or ""), name))
    if at(csi, "driver") == "fsx.csi.aws.com" and handle and host and handle[0] != host[0]:
        yield never_works(("spec", "csi", "volumeAttributes", "dnsname"), f"`{name}` is not file system `{handle[0]}`",
                          "give both of one file system", warning=True)


_FILE_SYSTEM = re.compile(r"fs-[0-9a-f]{8,17}")
