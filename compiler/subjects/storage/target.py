"""Target: PersistentVolumes and claims for storage that exists."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.manifest import Body, Manifest
from compiler.plan import Plan
from compiler.subjects.pools.plan import ZONE
from compiler.subjects.storage.plan import LUSTRE_VERSION, PersistentVolume, VolumeClaim
from compiler.targets.body import NO_PRUNE, given, head, path

FOLDER = "platform"


def lower(plan: Plan) -> Iterator[Manifest]:
    """A volume and a claim for each namespace that mounts a storage. Flux prunes neither."""
    for volume in plan.of(PersistentVolume):
        body = volume_body(volume)
        yield Manifest(
            body,
            path(FOLDER, body),
            volume.at,
            {
                ("spec", "capacity"): volume.where("size"),
                ("spec", "nodeAffinity"): volume.where("zone"),
                ("metadata", "annotations", LUSTRE_VERSION): volume.where("lustre"),
            },
        )
    for claim in plan.of(VolumeClaim):
        body = claim_body(claim)
        yield Manifest(body, path(FOLDER, body), claim.at)


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
