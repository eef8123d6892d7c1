from __future__ import annotations

from collections.abc import Iterator

from compiler.core.pods.plan import Container, Mount
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

        storage: [{name: data, fsxLustre: {existing: {id: fs-0a1b2c3d4e5f60718, address: 10.0.1.9, mountName: abcdefgh,
          size: 4800Gi, version: "2.15"}}}]
        jobs: [{name: llama, mounts: [{storage: data, path: /data}], checkpoint: {path: /data/llama},
          torchVersion: "2.12",
          volumes: [{name: scratch, path: /data/llama, emptyDir: {sizeLimit: 10Gi}}]}]

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
    for path, by, place in saved_paths(work):
        mount = _nearest(work.main, path)
        if mount is None or mount.volume in lost:
            yield Finding(
                f"{work.title} saves to `{path}` ({by}), {_what_is_there(work, path)}",
                place,
                label="gone with the first restart",
                help="mount a volume above this path",
                spec_help="add one of `mounts` above this path, or save to a path inside of one",
            )


def _nearest(container: Container, path: str) -> Mount | None:
    """The mount that a path lies in: of several, one in another, the inner one."""
    over = [
        mount for mount in container.mounts if f"{path}/".startswith(mount.path.rstrip("/") + "/")
    ]
    return max(over, key=lambda mount: len(mount.path.rstrip("/")), default=None)


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
