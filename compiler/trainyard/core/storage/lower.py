"""Lower: a stack for each storage that is made, and a script for what is uploaded to it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from trainyard.core.storage.plan import MadeBucket, MadeFileSystem, MadeSnapshots
from trainyard.core.storage.stacks import bucket_stack, file_system_stack, snapshot_stack
from trainyard.output import Artifact
from trainyard.output.lowering.text import rendered
from trainyard.plan import Plan


def lower(plan: Plan) -> Iterator[Artifact]:
    """The stacks, each of which holds the data whatever becomes of the cluster."""
    for bucket in plan.of(MadeBucket):
        yield bucket_stack(bucket)
        if bucket.uploads:
            yield _upload(bucket)
    for file_system in plan.of(MadeFileSystem):
        yield file_system_stack(file_system)
    for snapshots in plan.of(MadeSnapshots):
        yield snapshot_stack(snapshots)


def _upload(bucket: MadeBucket) -> Artifact:
    """A script for each bucket, so that two that come in branches never meet in a file."""
    return Artifact(
        path=f"bootstrap/uploads/{bucket.name}.sh",
        at=bucket.where("uploads"),
        text=partial(rendered, "trainyard.core.storage", "upload.sh.j2", bucket=bucket),
        format="shell",
    )
