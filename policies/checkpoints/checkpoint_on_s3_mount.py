from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.saves import saved_paths
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World

_S3 = "s3.csi.aws.com"


@rule(
    "RUN040",
    kubernetes="buckets are folders of pods by a CSI driver, and ParallelCluster mounts none",
    aliases=("checkpoint-on-bucket",),
    pods=True,
)
def checkpoint_on_s3_mount(work: Work, world: World) -> Iterator[Finding]:
    """A job saves its checkpoints to an S3 bucket that is mounted as a folder.

    Mountpoint writes new files from beginning to end. In a general purpose bucket it renames and changes no file, and
    overwrites one only with an option (Mountpoint for Amazon S3, semantics). Savers write to another name and rename,
    so that half a checkpoint is never taken for a whole one: torch.distributed.checkpoint its `.metadata`, Hugging Face
    its folder. They fail with `Operation not permitted` at the first save. Directory buckets (`--x-s3`) can rename.

    ## Fails

        storage: [{name: runs, s3: {existing: {bucket: team-runs}}}]
        jobs: [{name: llama, mounts: [{storage: runs, path: /runs}], checkpoint: {path: /runs/llama, every: 30m},
          torchVersion: "2.12"}]

        storage: [{name: runs, s3: {existing: {bucket: team-runs}}}]
        jobs: [{name: llama, mounts: [{storage: runs, path: /runs}],
          command: [torchrun, train.py, --output_dir=/runs/llama]}]

    ## Passes

        storage: [{name: runs, s3: {existing: {bucket: runs--usw2-az1--x-s3}}}]
        jobs: [{name: llama, mounts: [{storage: runs, path: /runs}], checkpoint: {path: /runs/llama, every: 30m}}]

        storage: [{name: runs, s3: {existing: {bucket: team-runs}}}]
        jobs: [{name: llama, mounts: [{storage: runs, path: /runs, readOnly: true}]}]
    """
    if work.main is None or work.pod is None:
        return
    sources = {
        volume.name: volume.source
        for volume in work.pod.volumes
        if volume.type == "persistentVolumeClaim"
    }
    buckets = {
        mount.path.rstrip("/"): _bucket(work, world, sources.get(mount.volume, ""))
        for mount in work.main.mounts
    }
    if not any(buckets.values()):
        return
    for path, _, place in saved_paths(work):
        above = [root for root in buckets if f"{path}/".startswith(f"{root}/")]
        if above:
            bucket = buckets[max(above, key=len)]
        else:
            bucket = ""
        if bucket:
            yield Finding(
                f"{work.title} saves to `{path}`, in bucket `{bucket}`",
                place,
                label="Mountpoint renames no file",
                help="save to FSx for Lustre, or by a saver for S3 itself (s3torchconnector)",
            )


def _bucket(work: Work, world: World, claim: str) -> str:
    """The general purpose bucket behind a claim; empty where it is another storage."""
    for volume in world.storage.volumes(work.namespace, {claim}) if claim else ():
        name = str(volume.attributes.get("bucketName") or volume.handle or "")
        if volume.driver == _S3 and not name.endswith("--x-s3"):
            return name
    return ""
