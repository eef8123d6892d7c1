from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.jobs.plan import CheckpointSchedule
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity
from trainyard.plan import Plan


@rule("RUN132", severity=Severity.WARNING)
def checkpoint_folder_shared(plan: Plan) -> Iterator[Finding]:
    """Two jobs save their checkpoints into one folder, or one of them into a folder of the other's.

    Each takes the other's latest checkpoint for its own when it resumes, and removes the other's when it keeps the
    last few (torchtitan, NeMo and the Hugging Face Trainer name folders by step alone). A job that goes on from
    another's model reads it from there and saves elsewhere.

    ## Fails

        storage: [{name: data, fsxLustre: {existing: {id: fs-0a1b2c3d4e5f60718, address: 10.0.1.9, mountName: abcdefgh,
          size: 4800Gi, version: "2.15"}}}]
        jobs: [{name: llama, mounts: [{storage: data, path: /data}], checkpoint: {path: /data/llama},
          terminationGracePeriod: 1m},
          {name: mistral, nodes: 2, image: "registry.test/train:1.0", command: [torchrun, t.py],
            mounts: [{storage: data, path: /data}], checkpoint: {path: /data/llama/}, terminationGracePeriod: 1m}]

        storage: [{name: data, fsxLustre: {existing: {id: fs-0a1b2c3d4e5f60718, address: 10.0.1.9, mountName: abcdefgh,
          size: 4800Gi, version: "2.15"}}}]
        jobs: [{name: llama, mounts: [{storage: data, path: /data}], checkpoint: {path: /data/runs},
          terminationGracePeriod: 1m},
          {name: mistral, nodes: 2, image: "registry.test/train:1.0", command: [torchrun, t.py],
            mounts: [{storage: data, path: /data}], checkpoint: {path: /data/runs/mistral}, terminationGracePeriod: 1m}]

    ## Passes

        storage: [{name: data, fsxLustre: {existing: {id: fs-0a1b2c3d4e5f60718, address: 10.0.1.9, mountName: abcdefgh,
          size: 4800Gi, version: "2.15"}}}]
        jobs: [{name: llama, mounts: [{storage: data, path: /data}], checkpoint: {path: /data/llama},
          terminationGracePeriod: 1m},
          {name: mistral, nodes: 2, image: "registry.test/train:1.0", command: [torchrun, t.py],
            mounts: [{storage: data, path: /data}], checkpoint: {path: /data/mistral}, terminationGracePeriod: 1m}]
    """
    first: dict[tuple[str, str], CheckpointSchedule] = {}
    for schedule in plan.of(CheckpointSchedule):
        if not schedule.holder:
            continue
        place = (schedule.holder, schedule.folder.rstrip("/"))
        other = first.setdefault(place, schedule)
        if other is not schedule:
            yield _finding(
                schedule, other, "save to the same folder", "each resumes from the other's"
            )
    for (holder, folder), schedule in first.items():
        for above in _above(folder):
            other = first.get((holder, above), schedule)
            if other is not schedule:
                yield _finding(schedule, other, "save to folders that contain each other,", _IN_IT)


_IN_IT = "taken for a checkpoint of the other, and removed with its old ones"


def _above(folder: str) -> Iterator[str]:
    """The folders above a folder, the nearest first."""
    while folder:
        folder = folder.rpartition("/")[0]
        yield folder


def _finding(one: CheckpointSchedule, other: CheckpointSchedule, what: str, label: str) -> Finding:
    return Finding(
        f"jobs `{other.name}` and `{one.name}` {what} `{one.path}`",
        one.where("path"),
        label=label,
        help="give each a folder of its own",
        also=((other.where("path"), f"`{other.name}` saves there"),),
    )
