from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.storage import EBS, EFS, FSX, ONE_NODE, ONE_POD
from trainyard.judge.model.values import value_at
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.places import Route
from trainyard.output.manifest import Manifest

_OFFERED = {
    EBS: (ONE_NODE, ONE_POD),
    FSX: ("ReadWriteMany", ONE_NODE, ONE_POD),
    EFS: ("ReadWriteMany", ONE_NODE, ONE_POD),
}


@rule(
    "RUN030",
    aliases=("access-that-no-driver-gives",),
    kinds=("/PersistentVolumeClaim", "/PersistentVolume"),
)
def access_mode_unsupported(manifest: Manifest, world: World) -> Iterator[Finding]:
    """A volume has an access mode that its driver does not support.

    A disk of EBS with a file system goes to one node (aws-ebs-csi-driver: only `ReadWriteOnce`; `ReadWriteMany` is for
    raw blocks), and no driver of a file system of AWS knows `ReadOnlyMany` (aws-fsx-csi-driver issue 164,
    aws-efs-csi-driver issue 1409). The claim is never provisioned, or the pods never mount it.

    ## Fails

        apiVersion: v1
        kind: PersistentVolumeClaim
        metadata: {name: data, namespace: team-a}
        spec: {storageClassName: gp2, accessModes: [ReadWriteMany], resources: {requests: {storage: 500Gi}}}

    ## Passes

        apiVersion: v1
        kind: PersistentVolumeClaim
        metadata: {name: data, namespace: team-a}
        spec: {storageClassName: gp2, accessModes: [ReadWriteOnce], resources: {requests: {storage: 500Gi}}}

        apiVersion: v1
        kind: PersistentVolume
        metadata: {name: data}
        spec:
          capacity: {storage: 1200Gi}
          accessModes: [ReadWriteMany]
          csi: {driver: fsx.csi.aws.com, volumeHandle: fs-0a1b2c3d4e5f60718}
    """
    spec = value_at(manifest.body, "spec")
    modes = value_at(spec, "accessModes")
    # A disk of each node (EBS CSI 1.64).
    local = str(value_at(spec, "csi", "volumeHandle")).startswith("local-ebs://")
    if local or value_at(spec, "volumeMode") == "Block" or not isinstance(modes, list):
        return
    if manifest.ref.kind == "PersistentVolume":
        driver = str(value_at(spec, "csi", "driver"))
        modes = modes[:1]  # the kubelet mounts by the first
    else:
        claim = world.storage.claim(manifest.ref.namespace, manifest.ref.name)
        if claim is None or claim.volume:
            return  # reported at the volume
        driver = world.storage.driver(claim)
    disk = "write `ReadWriteOnce`, or take a file system of many nodes"
    file_system = "write `ReadWriteMany`, and `readOnly: true` where it is mounted"
    offered = _OFFERED.get(driver, modes)
    for index, mode in enumerate(modes):
        if mode not in offered:
            yield Finding(
                f"`{driver}` does not support access mode `{mode}`",
                Route((manifest.id, "spec", "accessModes", index)),
                help=disk if driver == EBS else file_system,
            )
            return
