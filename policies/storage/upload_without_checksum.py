from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.storage.plan import PersistentVolume
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity

_DRIVER, _OPTION = "s3.csi.aws.com", "upload-checksums"


@rule("PLC072", severity=Severity.WARNING)
def upload_without_checksum(volume: PersistentVolume) -> Iterator[Finding]:
    """A bucket is mounted without checksums for what is written to it.

    Mountpoint sends a CRC32C with each part of an upload, and S3 refuses a part that differs from it
    (mountpoint-s3 1.22, `--upload-checksums`, default `crc32c`). With `off` a checkpoint that was changed on its way is
    stored as it came.

    ## Fails

        apiVersion: v1
        kind: PersistentVolume
        metadata: {name: runs}
        spec:
          capacity: {storage: 1Ti}
          accessModes: [ReadWriteMany]
          mountOptions: [region us-west-2, upload-checksums off]
          csi: {driver: s3.csi.aws.com, volumeHandle: runs, volumeAttributes: {bucketName: runs-111122223333}}

    ## Passes

        apiVersion: v1
        kind: PersistentVolume
        metadata: {name: runs}
        spec:
          capacity: {storage: 1Ti}
          accessModes: [ReadWriteMany]
          mountOptions: [region us-west-2]
          csi: {driver: s3.csi.aws.com, volumeHandle: runs, volumeAttributes: {bucketName: runs-111122223333}}
    """
    if volume.driver != _DRIVER:
        return
    for index, option in enumerate(volume.mount_options):
        words = option.lstrip("-").replace("=", " ").split()
        if words == [_OPTION, "off"]:
            yield Finding(
                f"volume `{volume.name}` writes to its bucket without checksums",
                volume.at / "spec" / "mountOptions" / index,
                help=f"remove `{option}`",
            )
