"""PersistentVolume: exactly one source (k8s.io/kubernetes v1.36, pkg/apis/core/validation
ValidatePersistentVolumeSpec), and what its driver must be told (aws-fsx-csi-driver v1.17.0, pkg/driver/node.go;
mountpoint-s3-csi-driver v2.2.1, pkg/driver/node).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from trainyard.language.diagnostics.diagnostic import listed
from trainyard.output.body import value_at
from trainyard.output.manifest import Body, placeholder
from trainyard.verify.fault import Fault, Path, nearest, never_works, refused
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
_CSI: Path = ("spec", "csi")
_ATTRIBUTES: Path = (*_CSI, "volumeAttributes")
_NEEDED = {"fsx.csi.aws.com": "dnsname", "s3.csi.aws.com": "bucketName"}
_SOURCES = ("driver", "pod")


def check(body: Body, lookup: Lookup) -> Iterator[Fault]:
    spec = value_at(body, "spec") or {}
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
    if not value_at(spec, "capacity", "storage"):
        yield refused(
            ("spec", "capacity", "storage"),
            "a volume without `capacity.storage`",
            help="write `capacity: {storage: …}`",
        )
    yield from _driver(value_at(body, *_CSI))


def _driver(csi: Any) -> Iterator[Fault]:
    """What a driver refuses when it mounts the volume."""
    driver = value_at(csi, "driver")
    attributes = value_at(csi, "volumeAttributes") or {}
    needed = _NEEDED.get(driver)
    if needed is None or not isinstance(attributes, dict):
        return
    if not attributes.get(needed):
        message = f"`{driver}` mounts no volume without `{needed}`"
        yield never_works(
            _ATTRIBUTES, message, f"write `volumeAttributes: {{{needed}: …}}`", key=True
        )
    bucket = str(attributes.get("bucketName") or "")
    if driver == "s3.csi.aws.com" and re.match(r"s3://|arn:[\w-]*:s3:::|https?://|.*/", bucket):
        yield never_works(
            (*_ATTRIBUTES, "bucketName"),
            f"`{bucket}` is no name of a bucket",
            "write the name alone, and a folder in it as the mount option `prefix …/`",
        )
    source = attributes.get("authenticationSource")
    if source is not None and source not in _SOURCES and not placeholder(str(source)):
        yield never_works(
            (*_ATTRIBUTES, "authenticationSource"),
            f"`{source}` is neither `driver` nor `pod`",
            nearest(str(source), _SOURCES, "write `driver` or `pod`"),
        )
