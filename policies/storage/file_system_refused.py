from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.cloud.plan import FileSystemStack
from trainyard.judge.model.lustre import Asked, refusals
from trainyard.judge.policy.rule import Finding, rule


@rule("RUN081")
def file_system_refused(system: FileSystemStack) -> Iterator[Finding]:
    """A template asks for a file system of FSx for Lustre that FSx refuses.

    PERSISTENT_2 is linked to S3 by data repository associations, and by no `ImportPath` ("Linking a Persistent 2 file
    system to an S3 bucket using the LustreConfiguration is not supported"); an `ExportPath` needs an `ImportPath` (FSx
    API, CreateFileSystemLustreConfiguration). What is linked like that, or is scratch, has no backups (FSx for Lustre
    user guide, using-backups-fsx). With EFA the size is a multiple of 38400, 19200, 9600 or 4800 GiB, at 125, 250, 500
    or 1000 MB/s for each TiB (increase-storage-capacity). The stack is rolled back.

    ## Fails

        Resources:
          Data:
            Type: AWS::FSx::FileSystem
            Properties:
              FileSystemType: LUSTRE
              StorageCapacity: 1200
              SubnetIds: [subnet-0a1b2c3d4e5f60718]
              LustreConfiguration: {DeploymentType: PERSISTENT_1, PerUnitStorageThroughput: 200,
                ImportPath: "s3://training-data", AutomaticBackupRetentionDays: 7}

        Resources:
          Data:
            Type: AWS::FSx::FileSystem
            Properties:
              FileSystemType: LUSTRE
              StorageCapacity: 4800
              SubnetIds: [subnet-0a1b2c3d4e5f60718]
              LustreConfiguration: {DeploymentType: PERSISTENT_2, PerUnitStorageThroughput: 250, EfaEnabled: true,
                MetadataConfiguration: {Mode: AUTOMATIC}}

    ## Passes

        Resources:
          Data:
            Type: AWS::FSx::FileSystem
            Properties:
              FileSystemType: LUSTRE
              StorageCapacity: 1200
              SubnetIds: [subnet-0a1b2c3d4e5f60718]
              LustreConfiguration: {DeploymentType: PERSISTENT_1, PerUnitStorageThroughput: 200,
                ImportPath: "s3://training-data", ExportPath: "s3://training-data/out"}
    """
    if system.kind not in (None, "LUSTRE"):
        return
    asked = Asked(
        deployment=system.deployment,
        imports=system.imports,
        exports=system.exports,
        backup_days=system.backup_days,
        efa=bool(system.efa),
        size=system.size,
        throughput=system.throughput,
    )
    for refusal in refusals(asked):
        yield Finding(
            f"file system `{system.logical}` {refusal.what}",
            system.where(refusal.field),
            label="FSx refuses it",
            help=refusal.help,
        )
