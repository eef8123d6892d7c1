"""Lift: PersistentVolumes of CSI drivers, and claims."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.storage.plan import LUSTRE_VERSION, PersistentVolume, VolumeClaim, VolumeClass
from trainyard.lift.reader import Reader, annotations_of, name_of, namespace_of
from trainyard.plan.base import PlanItem
from trainyard.plan.scheduling import ZONE


def volume(body: Reader) -> Iterator[PlanItem]:
    """PersistentVolume with a CSI source."""
    spec = body / "spec"
    csi = spec / "csi"
    claim = spec / "claimRef"
    capacity = spec.follow("capacity", "storage")
    affinity = spec / "nodeAffinity"
    size = capacity.quantity()
    zone = _zone(affinity)
    if not csi or size is None:
        return
    zone_is_unread = zone is None and bool(affinity)
    yield PersistentVolume(
        at=body.at,
        name=name_of(body),
        driver=(csi / "driver").word(),
        handle=(csi / "volumeHandle").word(),
        size=size,
        attributes=(csi / "volumeAttributes").strings(),
        mount_options=(spec / "mountOptions").texts(),
        access_modes=(spec / "accessModes").texts(),
        claim_namespace=(claim / "namespace").word(),
        claim_name=(claim / "name").word(),
        zone=zone,
        lustre=annotations_of(body).get(LUSTRE_VERSION),
        file_system=(csi / "fsType").word(),
        unread=frozenset({"zone"}) if zone_is_unread else frozenset(),
        origins={
            "size": capacity.at,
            "zone": affinity.at,
            "attributes": csi.follow("volumeAttributes", "dnsname").at,
            "lustre": body.follow("metadata", "annotations", LUSTRE_VERSION).at,
        },
    )


def _zone(affinity: Reader) -> str | None:
    for term in affinity.follow("required", "nodeSelectorTerms").items():
        for expression in (term / "matchExpressions").items():
            values = (expression / "values").texts()
            key = (expression / "key").value
            if key == ZONE and len(values) == 1:
                return values[0]
    return None


def claim(body: Reader) -> Iterator[PlanItem]:
    """PersistentVolumeClaim."""
    spec = body / "spec"
    size = spec.follow("resources", "requests", "storage").quantity()
    if size is not None:
        yield VolumeClaim(
            at=body.at,
            name=name_of(body),
            namespace=namespace_of(body),
            volume=(spec / "volumeName").word(),
            size=size,
            access_modes=(spec / "accessModes").texts(),
            storage_class=(spec / "storageClassName").text(),
            origins={"access_modes": (spec / "accessModes").at},
        )


def volume_class(body: Reader) -> Iterator[PlanItem]:
    """StorageClass; what it leaves out is the API's default (storage.k8s.io/v1)."""
    parameters = body / "parameters"
    zones: list[str] = []
    for term in (body / "allowedTopologies").items():
        for expression in (term / "matchLabelExpressions").items():
            if (expression / "key").value == ZONE:
                zones += (expression / "values").texts()
    yield VolumeClass(
        at=body.at,
        name=name_of(body),
        driver=(body / "provisioner").word(),
        parameters=parameters.strings(),
        binding=(body / "volumeBindingMode").text() or "Immediate",
        reclaim=(body / "reclaimPolicy").text() or "Delete",
        expansion=bool((body / "allowVolumeExpansion").flag()),
        zones=tuple(zones),
        mount_options=(body / "mountOptions").texts(),
        origins={
            "parameters": parameters.at,
            "parameters.iops": (parameters / "iops").at,
            "parameters.throughput": (parameters / "throughput").at,
            "binding": (body / "volumeBindingMode").at,
            "driver": (body / "provisioner").at,
        },
    )


KINDS = {
    "/PersistentVolume": volume,
    "/PersistentVolumeClaim": claim,
    "storage.k8s.io/StorageClass": volume_class,
}
