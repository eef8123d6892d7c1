"""Target: PersistentVolumes and claims; the stacks of what the bootstrap makes."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.manifest import Body, Manifest
from compiler.output import Artifact
from compiler.plan import Plan
from compiler.subjects.pools.plan import ZONE
from compiler.subjects.storage.plan import (
    LUSTRE_VERSION,
    MadeBucket,
    MadeFileSystem,
    PersistentVolume,
    VolumeClaim,
)
from compiler.subjects.storage.stacks import bucket_stack, file_system_stack
from compiler.targets.body import NO_PRUNE, given, head, path


def lower(plan: Plan) -> Iterator[Artifact]:
    """A volume and a claim for each namespace that mounts a storage, of which Flux prunes neither; and a stack for each
    storage that is made."""
    for bucket in plan.of(MadeBucket):
        yield bucket_stack(bucket)
    for file_system in plan.of(MadeFileSystem):
        yield file_system_stack(file_system)
    for volume in plan.of(PersistentVolume):
        body = volume_body(volume)
        yield Manifest(
            body,
            path(volume.folder, body),
            volume.at,
            {
                ("spec", "capacity"): volume.where("size"),
                ("spec", "nodeAffinity"): volume.where("zone"),
                ("metadata", "annotations", LUSTRE_VERSION): volume.where("lustre"),
            },
        )
    for claim in plan.of(VolumeClaim):
        body = claim_body(claim)
        yield Manifest(body, path(claim.folder, body), claim.at)


def volume_body(volume: PersistentVolume) -> Body:
    """PersistentVolume; an empty storage class binds it to its claim and to no provisioner."""
    annotations = dict(NO_PRUNE)
    if volume.lustre:
        annotations[LUSTRE_VERSION] = volume.lustre
    metadata = head("v1", "PersistentVolume", volume.name, annotations=annotations)
    source = given(
        driver=volume.driver,
        volumeHandle=volume.handle,
        volumeAttributes=dict(volume.attributes),
    )
    spec = given(
        capacity={"storage": str(volume.size)},
        accessModes=list(volume.access_modes),
        persistentVolumeReclaimPolicy="Retain",
        volumeMode="Filesystem",
        claimRef={"namespace": volume.claim_namespace, "name": volume.claim_name},
        mountOptions=list(volume.mount_options),
        csi=source,
        nodeAffinity=_affinity(volume.zone) if volume.zone else None,
    )
    return {**metadata, "spec": {**spec, "storageClassName": ""}}


def _affinity(zone: str) -> Body:
    expression = {"key": ZONE, "operator": "In", "values": [zone]}
    return {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}


def claim_body(claim: VolumeClaim) -> Body:
    """PersistentVolumeClaim."""
    return {
        **head(
            "v1",
            "PersistentVolumeClaim",
            claim.name,
            claim.namespace,
            annotations=NO_PRUNE,
        ),
        "spec": {
            "accessModes": list(claim.access_modes),
            "resources": {"requests": {"storage": str(claim.size)}},
            "storageClassName": claim.storage_class,
            "volumeName": claim.volume,
        },
    }
