"""Lift: PersistentVolumes of CSI drivers, and claims."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.lift.reader import Reader, annotations_of, name_of, namespace_of
from compiler.plan.base import PlanNode
from compiler.subjects.pools.plan import ZONE
from compiler.subjects.storage.plan import LUSTRE_VERSION, PersistentVolume, VolumeClaim


def volume(body: Reader) -> Iterator[PlanNode]:
    """PersistentVolume with a CSI source."""
    spec = body / "spec"
    csi, claim, size = (
        spec / "csi",
        spec / "claimRef",
        spec.follow("capacity", "storage").quantity(),
    )
    zone = _zone(spec)
    if csi and size is not None:
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
            unread=frozenset({"zone"})
            if zone is None and (spec / "nodeAffinity")
            else frozenset(),
            origins={
                "size": spec.follow("capacity", "storage").at,
                "zone": (spec / "nodeAffinity").at,
                "attributes": csi.follow("volumeAttributes", "dnsname").at,
                "lustre": body.follow("metadata", "annotations", LUSTRE_VERSION).at,
            },
        )


def _zone(spec: Reader) -> str | None:
    for term in spec.follow("nodeAffinity", "required", "nodeSelectorTerms").items():
        for expression in (term / "matchExpressions").items():
            if (expression / "key").value == ZONE and len(
                (expression / "values").texts()
            ) == 1:
                return (expression / "values").texts()[0]
    return None


def claim(body: Reader) -> Iterator[PlanNode]:
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


KINDS = {"/PersistentVolume": volume, "/PersistentVolumeClaim": claim}
