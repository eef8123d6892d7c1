"""Edits of created storage that AWS applies only by creating a new, empty bucket or file system.

The stack's policy refuses such an update, whenever the script is run next; here it is reported before. Sources: the
provider schemas of CloudFormation (createOnlyProperties of AWS::FSx::FileSystem and AWS::S3::Bucket), its template
reference (LustreConfiguration: DeploymentType and CopyTagsToBackups, "Update requires: Replacement"), and the FSx API,
UpdateFileSystemLustreConfiguration and UpdateFileSystem StorageCapacity (botocore 1.44.5), which take no other value.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.core.storage.plan import MadeBucket, MadeFileSystem
from trainyard.core.storage.stacks import bucket_stack, file_system_stack
from trainyard.language.diagnostics import Diagnostic
from trainyard.language.diagnostics.diagnostic import error
from trainyard.output import Artifact
from trainyard.output.body import value_at
from trainyard.plan import Plan
from trainyard.run.history.changes import shown_value
from trainyard.run.history.committed import Committed

_BUCKET = ("Resources", "Bucket", "Properties")
_SYSTEM = ("Resources", "FileSystem", "Properties")
_LUSTRE = (*_SYSTEM, "LustreConfiguration")
_CAPACITY = (*_SYSTEM, "StorageCapacity")
NEVER_CHANGES = {
    "AWS::FSx::FileSystem": (
        "StorageType",
        "LustreConfiguration/CopyTagsToBackups",
        "LustreConfiguration/DeploymentType",
        "LustreConfiguration/DriveCacheType",
        "LustreConfiguration/EfaEnabled",
    )
}
"""Properties, by type, that only another resource has another value of, beside those of the provider's schema."""
_FIXED = (
    (*_BUCKET, "BucketName"),
    (*_SYSTEM, "KmsKeyId"),
    (*_SYSTEM, "SubnetIds"),
    *((*_SYSTEM, *path.split("/")) for path in NEVER_CHANGES["AWS::FSx::FileSystem"]),
    ("Metadata", "Zone"),
)
_PRESENCE = ((*_LUSTRE, "MetadataConfiguration"),)


def replaced_storage(plan: Plan, committed: Committed) -> Iterator[Diagnostic]:
    """The fields of committed stacks that would be others."""
    stacks = [bucket_stack(made) for made in plan.of(MadeBucket)]
    stacks += [file_system_stack(made) for made in plan.of(MadeFileSystem)]
    for stack in stacks:
        old = committed.template(stack.path)
        if old is not None and old != stack.body:
            yield from _replaced(old, stack)


def _replaced(old: dict[str, Any], stack: Artifact) -> Iterator[Diagnostic]:
    new = stack.body
    for path in _FIXED:
        before = value_at(old, *path)
        after = value_at(new, *path)
        if before != after:
            yield _refused(stack, path, before, after)
    for path in _PRESENCE:
        before = value_at(old, *path)
        after = value_at(new, *path)
        if (before is None) != (after is None):
            yield _refused(stack, path, before, after)
    before = value_at(old, *_CAPACITY)
    after = value_at(new, *_CAPACITY)
    are_sizes = isinstance(before, int) and isinstance(after, int)
    if are_sizes and after < before:
        yield _refused(stack, _CAPACITY, before, after)


def _refused(stack: Artifact, path: tuple[str, ...], before: Any, after: Any) -> Diagnostic:
    field = path[-1]
    edit = f"{shown_value(before)} → {shown_value(after)}"
    return error(
        "CHG014",
        f"`{field}` of `{stack.path}` cannot change: {edit}",
        stack.origin(path),
        label="AWS would make another one, which is empty",
        help="undo the change, or add a storage of another name and copy the data; "
        f"if it was never made, delete `{stack.path}` here",
    )
