from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.jobs.plan import Folder
from trainyard.judge.model.saves import saved_paths
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule


@rule("RUN020", aliases=("checkpoint-in-container",), pods=True)
def checkpoint_on_ephemeral_storage(work: Work) -> Iterator[Finding]:
    """A job saves its checkpoints to a path that is lost with the pod, or with the node.

    Nothing is mounted there: the file system of the container is gone with the first restart, and training begins at
    step 0 (Kubernetes, volumes; NVIDIA/pyxis, usage: unnamed containers are removed with the task). On Slurm the
    folders of one node are lost too, like `/tmp` and `/scratch`: the next try may have another. Read from
    `CHECKPOINT_DIR` and from the options `--save-path`, `--output-dir`, `--checkpoint-dir`, `--checkpoint-path` and
    `--ckpt-dir`, where they are absolute paths.

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
    for path, by, place in saved_paths(work):
        folder = work.folder_of(path)
        if folder is not None and folder.lasting is False:
            yield Finding(
                f"{work.title} saves to `{path}` ({by}), {_what_is_there(work, folder)}",
                place,
                label="gone with the first restart",
                help=_help(work),
                spec_help="add one of `mounts` above this path, or save to a path inside of one",
            )


def _what_is_there(work: Work, folder: Folder) -> str:
    """What a path that is lost lies on."""
    if folder.path == "/":
        return "where nothing is mounted"
    if work.has_pods:
        return "on a volume of the pod"
    return "on the disks or in the memory of one node"


def _help(work: Work) -> str:
    if work.has_pods:
        return "mount a volume above this path"
    return (
        "save to a file system that all nodes share, and mount it: `--container-mounts=/fsx:/fsx`"
    )
