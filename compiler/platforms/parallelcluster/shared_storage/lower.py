"""Lower: an item of ``SharedStorage`` for each file system, and one of ``S3Access`` for each bucket."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.output import Artifact
from compiler.output.artifact import Places
from compiler.plan import Plan
from compiler.platforms.parallelcluster.shared_storage.plan import BucketAccess, SharedFileSystem

STORAGE, ACCESS = "bootstrap/cluster/storage", "bootstrap/cluster/access"
"""The folders of the items, which the bootstrap puts together."""
_SETTINGS = {"FsxLustre": ("FsxLustreSettings", "FileSystemId"), "Ebs": ("EbsSettings", "VolumeId")}


def lower(plan: Plan) -> Iterator[Artifact]:
    """A file for each: two that come never meet in one."""
    for mounted in plan.of(SharedFileSystem):
        yield _item(mounted)
    for access in plan.of(BucketAccess):
        yield _access(access)


def _item(mounted: SharedFileSystem) -> Artifact:
    settings, id = _SETTINGS[mounted.kind]
    body = {
        "Name": mounted.name,
        "MountDir": mounted.mount_dir,
        "StorageType": mounted.kind,
        settings: {id: mounted.id},
    }
    origins: Places = {
        ("Name",): mounted.where("name"),
        ("MountDir",): mounted.where("mount_dir"),
        (settings, id): mounted.where("id"),
    }
    path = f"{STORAGE}/{mounted.name}.yaml"
    return Artifact(body, path, mounted.at, origins, format="parallelcluster")


def _access(access: BucketAccess) -> Artifact:
    body = {"BucketName": access.name, "EnableWriteAccess": True}
    path = f"{ACCESS}/{access.storage}.yaml"
    return Artifact(body, path, access.at, format="parallelcluster")
