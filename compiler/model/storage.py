"""Claims, held against the volumes and classes of their set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property

from compiler.manifest import Manifest
from compiler.model.values import value
from compiler.plan import Plan
from compiler.subjects.storage.plan import PersistentVolume, VolumeClaim

EBS, EFS, FSX = "ebs.csi.aws.com", "efs.csi.aws.com", "fsx.csi.aws.com"
ONE_NODE, ONE_POD = "ReadWriteOnce", "ReadWriteOncePod"
_DEFAULT = "storageclass.kubernetes.io/is-default-class"
_IN_TREE = {
    "kubernetes.io/aws-ebs": EBS
}  # moved to the driver by CSI migration (Kubernetes 1.25)


class Storage:
    """By name what jobs mount. Joins are made on first use and kept."""

    def __init__(self, plan: Plan, manifests: Sequence[Manifest]) -> None:
        self._plan = plan
        self._manifests = manifests

    @cached_property
    def _claims(self) -> Mapping[tuple[str, str], VolumeClaim]:
        return {
            (each.namespace, each.name): each for each in self._plan.of(VolumeClaim)
        }

    @cached_property
    def _classes(self) -> Mapping[str | None, str]:
        """The provisioner of each StorageClass; ``None`` is the default one. EKS makes ``gp2``."""
        found: dict[str | None, str] = {"gp2": EBS}
        for each in self._manifests:
            if each.ref.kind == "StorageClass" and each.ref.group == "storage.k8s.io":
                provisioner = str(each.body.get("provisioner") or "")
                found[each.ref.name] = _IN_TREE.get(provisioner, provisioner)
                if value(each.body, "metadata", "annotations", _DEFAULT) == "true":
                    found[None] = found[each.ref.name]
        return found

    def claim(self, namespace: str, name: str) -> VolumeClaim | None:
        """A claim of the set."""
        return self._claims.get((namespace, name))

    def volumes(
        self, namespace: str, claims: AbstractSet[str]
    ) -> list[PersistentVolume]:
        """The volumes of the set behind claims: those that they name, and those that are kept for them."""
        named = {
            found.volume
            for each in claims
            if (found := self.claim(namespace, each)) is not None
        }
        return [
            each
            for each in self._plan.of(PersistentVolume)
            if each.name in named
            or (each.claim_namespace == namespace and each.claim_name in claims)
        ]

    def driver(self, claim: VolumeClaim) -> str:
        """The CSI driver behind a claim; empty where the set does not tell."""
        for volume in self.volumes(claim.namespace, {claim.name}):
            if claim.volume in ("", volume.name):
                return volume.driver
        return "" if claim.volume else self._classes.get(claim.storage_class, "")
