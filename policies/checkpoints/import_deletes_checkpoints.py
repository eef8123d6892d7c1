from __future__ import annotations

import posixpath
from collections.abc import Iterator

from trainyard.core.jobs.plan import CheckpointSchedule
from trainyard.core.storage.plan import MadeFileSystem
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity
from trainyard.plan import Plan


@rule("RUN139", severity=Severity.WARNING)
def import_deletes_checkpoints(plan: Plan) -> Iterator[Finding]:
    """A folder in which a job saves follows deletions in its bucket.

    A data repository association with `DELETED` among its import events removes from the file system what is
    deleted in the bucket (FSx API, AutoImportPolicy). A lifecycle rule or a clean-up of the bucket then takes the
    checkpoints of running jobs. For folders that are written here, export is what is wanted.

    ## Fails

        storage: [{name: data, fsxLustre: {create: {size: 4800Gi, throughputPerTiB: 250, dataRepositories:
          [{path: /llama, s3: "s3://models-111122223333/llama", import: [NEW, CHANGED, DELETED]}]}}}]
        jobs: [{name: llama, mounts: [{storage: data, path: /data}], checkpoint: {path: /data/llama},
          terminationGracePeriod: 1m}]

    ## Passes

        storage: [{name: data, fsxLustre: {create: {size: 4800Gi, throughputPerTiB: 250, dataRepositories:
          [{path: /llama, s3: "s3://models-111122223333/llama", import: [NEW], export: [NEW, CHANGED]}]}}}]
        jobs: [{name: llama, mounts: [{storage: data, path: /data}], checkpoint: {path: /data/llama},
          terminationGracePeriod: 1m}]
    """
    made = {system.name: system for system in plan.of(MadeFileSystem)}
    for schedule in plan.of(CheckpointSchedule):
        system = made.get(schedule.storage)
        if system is None:
            continue
        folder = posixpath.join("/", schedule.folder)
        for repository in system.repositories:
            if "DELETED" not in repository.imports:
                continue
            if f"{folder}/".startswith(repository.path.rstrip("/") + "/"):
                yield Finding(
                    f"what is deleted in `{repository.s3}` is deleted in `{schedule.path}`, where `{schedule.name}` "
                    "saves",
                    repository.at / "import",
                    label="takes checkpoints with it",
                    help="write `import: [NEW, CHANGED]`",
                )
