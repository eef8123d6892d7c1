"""Lower: PersistentVolumes and claims, and StorageClasses."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.storage.plan import (
    FOLDER,
    LUSTRE_VERSION,
    PersistentVolume,
    VolumeClaim,
    VolumeClass,
)
from trainyard.output import Artifact
from trainyard.output.artifact import Places
from trainyard.output.lowering.body import NO_PRUNE, fields_given, manifest_in, object_head
from trainyard.output.manifest import Body
from trainyard.plan import Plan
from trainyard.plan.scheduling import ZONE


def lower(plan: Plan) -> Iterator[Artifact]:
    """A volume and a claim for each namespace that mounts a storage, of which Flux prunes neither."""
    for volume_class in plan.of(VolumeClass):
        body = class_body(volume_class)
        places: Places = {
            ("parameters", name): volume_class.where(f"parameters.{name}")
            for name in volume_class.parameters
        }
        yield manifest_in(
            FOLDER,
            body,
            volume_class.at,
            {
                ("parameters",): volume_class.where("parameters"),
                **places,
                ("allowedTopologies",): volume_class.where("zones"),
                ("reclaimPolicy",): volume_class.where("reclaim"),
            },
        )
    for volume in plan.of(PersistentVolume):
        body = volume_body(volume)
        yield manifest_in(
            volume.folder,
            body,
            volume.at,
            {
                ("spec", "capacity"): volume.where("size"),
                ("spec", "nodeAffinity"): volume.where("zone"),
                ("metadata", "annotations", LUSTRE_VERSION): volume.where("lustre"),
            },
        )
    for claim in plan.of(VolumeClaim):
        yield manifest_in(claim.folder, claim_body(claim), claim.at)


def volume_body(volume: PersistentVolume) -> Body:
    """PersistentVolume; an empty storage class binds it to its claim and to no provisioner."""
    annotations = dict(NO_PRUNE)
    if volume.lustre:
        annotations[LUSTRE_VERSION] = volume.lustre
    metadata = object_head("v1", "PersistentVolume", volume.name, annotations=annotations)
    source = fields_given(
        driver=volume.driver,
        volumeHandle=volume.handle,
        fsType=volume.file_system or None,
        volumeAttributes=dict(volume.attributes),
    )
    spec = fields_given(
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
        **object_head(
            "v1", "PersistentVolumeClaim", claim.name, claim.namespace, annotations=NO_PRUNE
        ),
        "spec": {
            "accessModes": list(claim.access_modes),
            "resources": {"requests": {"storage": str(claim.size)}},
            "storageClassName": claim.storage_class,
            **fields_given(volumeName=claim.volume or None),
        },
    }


def class_body(volume_class: VolumeClass) -> Body:
    """StorageClass (storage.k8s.io/v1). Volumes and runs outlive it, so Flux does not prune it."""
    zones = [{"matchLabelExpressions": [{"key": ZONE, "values": list(volume_class.zones)}]}]
    return {
        **object_head("storage.k8s.io/v1", "StorageClass", volume_class.name, annotations=NO_PRUNE),
        **fields_given(
            provisioner=volume_class.driver,
            parameters=dict(volume_class.parameters),
            reclaimPolicy=volume_class.reclaim,
            volumeBindingMode=volume_class.binding,
            allowVolumeExpansion=volume_class.expansion or None,
            allowedTopologies=zones if volume_class.zones else None,
            mountOptions=list(volume_class.mount_options),
        ),
    }
