from __future__ import annotations

from collections.abc import Iterator

from compiler.model.saves import saved_paths
from compiler.model.work import Work
from compiler.policy.rule import Finding, rule


@rule("RUN020", aliases=("checkpoint-in-container",), pods=True)
def checkpoint_on_ephemeral_storage(work: Work) -> Iterator[Finding]:
    """A job saves its checkpoints to a path that is lost with the pod.

    Nothing is mounted there: the file system of the container is gone with the first restart, and training begins
    at step 0 (Kubernetes, volumes). Read from `CHECKPOINT_DIR` and from the options `--save-path`, `--output-dir`,
    `--checkpoint-dir`, `--checkpoint-path` and `--ckpt-dir`, where they are absolute paths.

    ## Fails

        jobs: [{name: llama, checkpoint: {path: /data/llama}, torchVersion: "2.12"}]

        jobs: [{name: llama, command: [torchrun, train.py, --output_dir=/data/llama]}]

    ## Passes

        storage: [{name: data, fsxLustre: {existing: {id: fs-0a1b2c3d4e5f60718, mountName: abcdefgh, size: 4800Gi,
          version: "2.15"}}}]
        jobs: [{name: llama, mounts: [{storage: data, path: /data}], checkpoint: {path: /data/llama}}]
    """
    if work.main is None or work.pod is None:
        return
    lost = {
        volume.name for volume in work.pod.volumes if volume.type in ("emptyDir", "ephemeral", "")
    }
    roots = [mount.path.rstrip("/") + "/" for mount in work.main.mounts if mount.volume not in lost]
    for path, by, place in saved_paths(work):
        if not any(f"{path}/".startswith(root) for root in roots):
            yield Finding(
                f"{work.title} saves to `{path}` ({by}), {_what_is_there(work, path)}",
                place,
                label="gone with the first restart",
                help="mount a volume above this path",
                spec_help="add one of `mounts` above this path, or save to a path inside of one",
            )


def _what_is_there(work: Work, path: str) -> str:
    """What a path that is lost with the pod lies on."""
    if work.main is not None:
        mounts = work.main.mounts
    else:
        mounts = ()
    folders = [mount.path.rstrip("/") + "/" for mount in mounts]
    if any(f"{path}/".startswith(folder) for folder in folders):
        return "on a volume of the pod"
    return "where nothing is mounted"
