"""Checks of storage: values that are valid alone and contradict each other or a fact."""

from __future__ import annotations

from trainyard.core.storage.spec import FsxLustre, StorageSection
from trainyard.language.places import Route
from trainyard.plan.context import SPEC, Context


def check_file_systems(context: Context) -> None:
    """What two storages say of one file system, and what no file system of a deployment is."""
    first_of: dict[str, tuple[Route, FsxLustre]] = {}
    storages = StorageSection.of(context.spec).storage
    for index, storage in enumerate(storages):
        fsx = storage.existing_lustre
        if fsx is None:
            continue
        at = SPEC / "storage" / index / "fsxLustre" / "existing"
        _deployment(context, fsx, at)
        own = (at, fsx)
        place, first = first_of.setdefault(fsx.id, own)
        for key, one, other in (
            ("mountName", first.mount_name, fsx.mount_name),
            ("zone", first.zone, fsx.zone),
            ("size", str(first.size), str(fsx.size)),
            ("version", first.version, fsx.version),
            ("deployment", _deployment_of(first), _deployment_of(fsx)),
            ("throughputPerTiB", _shown(first.throughput_per_tib), _shown(fsx.throughput_per_tib)),
        ):
            if one and other and one != other:
                context.fault(
                    "RES044",
                    f"file system `{fsx.id}` has `{key}: {other}` here and `{one}` in `{place}`",
                    at / key,
                    "write what `aws fsx describe-file-systems` shows, or the id of the other one",
                    source="FSx API, CreateFileSystem and LustreFileSystemConfiguration",
                )


def _deployment_of(fsx: FsxLustre) -> str | None:
    """The deployment that the spec says."""
    return fsx.deployment if "deployment" in fsx.model_fields_set else None


def _shown(number: int | None) -> str | None:
    return None if number is None else str(number)


def _deployment(context: Context, fsx: FsxLustre, at: Route) -> None:
    """FSx API, FileSystemTypeVersion and MountName (botocore 1.44.5)."""
    if fsx.deployment == "PERSISTENT_2" and fsx.version == "2.10":
        context.fault(
            "RES044",
            "no PERSISTENT_2 file system is Lustre `2.10`",
            at / "version",
            'write `version: "2.12"` or `"2.15"`, or the `deployment:` that it has',
            source="FSx API, CreateFileSystem and LustreFileSystemConfiguration",
        )
    if fsx.deployment == "SCRATCH_1" and fsx.mount_name != "fsx":
        context.fault(
            "RES044",
            f"the MountName of a SCRATCH_1 file system is always `fsx`, not `{fsx.mount_name}`",
            at / "mountName",
            "write `mountName: fsx`, or the `deployment:` that it has",
            source="FSx API, CreateFileSystem and LustreFileSystemConfiguration",
        )
