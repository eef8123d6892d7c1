from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.storage import EBS
from trainyard.judge.model.values import value_at
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity
from trainyard.language.places import Route
from trainyard.output.manifest import Manifest


@rule(
    "PLC029",
    aliases=("disk-without-zone",),
    severity=Severity.WARNING,
    kinds=("/PersistentVolume",),
)
def ebs_volume_without_zone(manifest: Manifest) -> Iterator[Finding]:
    """A volume on an EBS disk does not say in which zone the disk is.

    A disk is attached to instances of its own zone only. The driver writes the node affinity of volumes that it
    creates; of one written by hand nothing does, and a pod is placed where the disk cannot follow
    (aws-ebs-csi-driver, static provisioning).

    ## Fails

        apiVersion: v1
        kind: PersistentVolume
        metadata: {name: disk}
        spec:
          capacity: {storage: 500Gi}
          accessModes: [ReadWriteOnce]
          csi: {driver: ebs.csi.aws.com, volumeHandle: vol-0a1b2c3d4e5f60718}

    ## Passes

        apiVersion: v1
        kind: PersistentVolume
        metadata: {name: disk}
        spec:
          capacity: {storage: 500Gi}
          accessModes: [ReadWriteOnce]
          csi: {driver: ebs.csi.aws.com, volumeHandle: vol-0a1b2c3d4e5f60718}
          nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [
            {key: topology.kubernetes.io/zone, operator: In, values: [us-west-2a]}]}]}}
    """
    spec = value_at(manifest.body, "spec")
    if str(value_at(spec, "csi", "volumeHandle")).startswith("local-ebs://"):
        return  # a disk of each node (EBS CSI driver 1.64, node-local volumes)
    if value_at(spec, "csi", "driver") == EBS and value_at(spec, "nodeAffinity") is None:
        yield Finding(
            f"volume `{manifest.ref.name}` has no node affinity to the zone of its disk",
            Route((manifest.id, "spec", "csi")),
            key=True,
            help="add `nodeAffinity` with `topology.kubernetes.io/zone` `In` the disk's zone",
        )
