from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.cloud.plan import Bucket, LinkedFolder
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity


@rule("RUN179", severity=Severity.WARNING)
def link_deletes_from_bucket(folder: LinkedFolder, world: World) -> Iterator[Finding]:
    """What a job deletes in a linked folder is deleted in S3, from a bucket that keeps no versions.

    With `DELETED` among its export events FSx deletes the object as soon as the file is gone (FSx for Lustre user
    guide, autoexport-data-repo-dra): an `rm` in a mount takes the original, whoever else reads it. A bucket that keeps
    versions can give it back.

    ## Fails

        Resources:
          Link:
            Type: AWS::FSx::DataRepositoryAssociation
            Properties:
              FileSystemId: fs-0a1b2c3d4e5f60718
              FileSystemPath: /data
              DataRepositoryPath: s3://training-data/datasets
              S3: {AutoExportPolicy: {Events: [NEW, CHANGED, DELETED]}}

        storage: [{name: data, fsxLustre: {create: {size: 4800Gi, throughputPerTiB: 250,
          dataRepositories: [{path: /data, s3: "s3://training-data/datasets", export: [NEW, CHANGED, DELETED]}]}}}]

    ## Passes

        # as the first that fails, but
        Resources: {Link: {Properties: {S3: {AutoExportPolicy: {Events: [NEW, CHANGED]}}}}}

        storage: [{name: data, fsxLustre: {create: {size: 4800Gi, throughputPerTiB: 250,
          dataRepositories: [{path: /data, s3: "s3://training-data/datasets"}]}}}]

        storage: [{name: runs, s3: {create: {}}}, {name: data, fsxLustre: {create: {size: 4800Gi, throughputPerTiB: 250,
          dataRepositories: [{path: /runs, storage: runs, export: [NEW, CHANGED, DELETED]}]}}}]
    """
    if "DELETED" not in folder.exports or folder.bucket is None:
        return
    for bucket in world.plan.of(Bucket):
        is_linked = folder.bucket in (bucket.name, bucket.logical)
        if is_linked and bucket.versioned is not False:
            return
    yield Finding(
        f"a file that is deleted in the linked folder is deleted from `{folder.bucket}` too",
        folder.where("exports"),
        label="an `rm` of a job takes the original",
        help="remove `DELETED` from the events that are exported, or have the bucket keep versions",
    )
