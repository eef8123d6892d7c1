"""An item of ``SharedStorage`` for each file system, and one of ``S3Access`` for each bucket."""

from __future__ import annotations

from typing import Any

from trainyard.extensions.parallelcluster.shared_storage.plan import BucketAccess, SharedFileSystem
from trainyard.output.artifact import Places
from trainyard.verify.fault import Path

_SETTINGS = {"FsxLustre": ("FsxLustreSettings", "FileSystemId"), "Ebs": ("EbsSettings", "VolumeId")}


def file_system(mounted: SharedFileSystem) -> dict[str, Any]:
    """What all nodes mount."""
    settings, id = _SETTINGS[mounted.kind]
    return {
        "Name": mounted.name,
        "MountDir": mounted.mount_dir,
        "StorageType": mounted.kind,
        settings: {id: mounted.id},
    }


def places_of_file_system(mounted: SharedFileSystem, at: Path) -> Places:
    """Where in the spec its keys come from."""
    settings, id = _SETTINGS[mounted.kind]
    return {
        at: mounted.at,
        (*at, "Name"): mounted.where("name"),
        (*at, "MountDir"): mounted.where("mount_dir"),
        (*at, settings, id): mounted.where("id"),
    }


def access(bucket: BucketAccess) -> dict[str, Any]:
    """What nodes may do with a bucket."""
    return {"BucketName": bucket.name, "EnableWriteAccess": not bucket.read_only}
