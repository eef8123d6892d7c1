from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.judge.model.storage import FSX
from trainyard.judge.model.values import value_at
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.places import Route
from trainyard.output.manifest import Manifest


@rule("RUN027", aliases=("volume-of-other-file-system",), kinds=("/PersistentVolume",))
def volume_file_system_mismatch(manifest: Manifest) -> Iterator[Finding]:
    """A volume mounts another FSx file system than the one in its handle.

    The driver mounts `dnsname` of the volume's attributes, whatever `volumeHandle` says (aws-fsx-csi-driver,
    NodePublishVolume); the DNS name of a file system begins with its id (FSx for Lustre user guide). Jobs then read and
    write data that is not theirs.

    ## Fails

        apiVersion: v1
        kind: PersistentVolume
        metadata: {name: data}
        spec:
          capacity: {storage: 4800Gi}
          accessModes: [ReadWriteMany]
          csi:
            driver: fsx.csi.aws.com
            volumeHandle: fs-0a1b2c3d4e5f60718
            volumeAttributes: {dnsname: fs-0f1e2d3c4b5a69788.fsx.us-west-2.amazonaws.com, mountname: abcdefgh}

    ## Passes

        apiVersion: v1
        kind: PersistentVolume
        metadata: {name: data}
        spec:
          capacity: {storage: 4800Gi}
          accessModes: [ReadWriteMany]
          csi:
            driver: fsx.csi.aws.com
            volumeHandle: fs-0a1b2c3d4e5f60718-team-a
            volumeAttributes: {dnsname: fs-0a1b2c3d4e5f60718.fsx.us-west-2.amazonaws.com, mountname: abcdefgh}
    """
    csi = value_at(manifest.body, "spec", "csi")
    if value_at(csi, "driver") != FSX:
        return
    named = re.match(_ID, str(value_at(csi, "volumeHandle")))
    mounted = re.match(_ID, str(value_at(csi, "volumeAttributes", "dnsname")))
    if named and mounted and named[0] != mounted[0]:
        yield Finding(
            f"volume `{manifest.ref.name}` names file system `{named[0]}` and mounts `{mounted[0]}`",
            Route((manifest.id, "spec", "csi", "volumeAttributes", "dnsname")),
            label="the driver mounts this one",
            help="write the id and the DNS name of one file system",
        )


_ID = r"fs-[0-9a-f]{8,17}(?![0-9a-f])"
