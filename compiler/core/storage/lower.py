"""Lower: a stack for each storage that is made."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.core.storage.plan import MadeBucket, MadeFileSystem, MadeSnapshots
from compiler.core.storage.stacks import bucket_stack, file_system_stack, snapshot_stack
from compiler.output import Artifact
from compiler.plan import Plan


def lower(plan: Plan) -> Iterator[Artifact]:
    """The stacks, each of which holds the data whatever becomes of the cluster."""
    for bucket in plan.of(MadeBucket):
        yield bucket_stack(bucket)
    for file_system in plan.of(MadeFileSystem):
        yield file_system_stack(file_system)
    for snapshots in plan.of(MadeSnapshots):
        yield snapshot_stack(snapshots)
