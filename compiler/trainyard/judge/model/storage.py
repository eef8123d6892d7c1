"""Claims, compared with the volumes and StorageClasses of their set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property

from trainyard.core.storage.plan import PersistentVolume, VolumeClaim
from trainyard.judge.model.values import value_at
from trainyard.output.manifest import Manifest
from trainyard.plan import Plan

EBS, EFS, FSX = "ebs.csi.aws.com", "efs.csi.aws.com", "fsx.csi.aws.com"
ONE_NODE, ONE_POD = "ReadWriteOnce", "ReadWriteOncePod"
_DEFAULT = "storageclass.kubernetes.io/is-default-class"
# Moved to the driver by CSI migration (Kubernetes 1.25).
_IN_TREE = {"kubernetes.io/aws-ebs": EBS}


class Storage:
    """By name what jobs mount. Joins are computed on first use and cached."""

    def __init__(self, plan: Plan, manifests: Sequence[Manifest]) -> None:
        self._plan = plan
        self._manifests = manifests

    @cached_property
    def _claims(self) -> Mapping[tuple[str, str], VolumeClaim]:
        claims = self._plan.of(VolumeClaim)
        return {(claim.namespace, claim.name): claim for claim in claims}

    @cached_property
    def _classes(self) -> Mapping[str | None, str]:
        """The provisioner of each StorageClass; ``None`` is the default one. EKS creates ``gp2``."""
        provisioners: dict[str | None, str] = {"gp2": EBS}
        for manifest in self._manifests:
            ref = manifest.ref
            if ref.kind != "StorageClass" or ref.group != "storage.k8s.io":
                continue
            named = str(manifest.body.get("provisioner") or "")
            provisioner = _IN_TREE.get(named, named)
            provisioners[ref.name] = provisioner
            if value_at(manifest.body, "metadata", "annotations", _DEFAULT) == "true":
                provisioners[None] = provisioner
        return provisioners

    @cached_property
    def _parameters(self) -> Mapping[str, Mapping[str, str]]:
        """The parameters of each StorageClass, as far as they are text."""
        parameters = {}
        for manifest in self._manifests:
            if manifest.ref.kind != "StorageClass":
                continue
            given = manifest.body.get("parameters")
            texts = given.items() if isinstance(given, dict) else ()
            of_class = {str(key): str(text) for key, text in texts}
            parameters[manifest.ref.name] = of_class
        return parameters

    def parameters(self, claim: VolumeClaim) -> Mapping[str, str]:
        """The parameters of a claim's StorageClass; none where the set does not say."""
        return self._parameters.get(claim.storage_class or "", {})

    def claim(self, namespace: str, name: str) -> VolumeClaim | None:
        """A claim of the set."""
        return self._claims.get((namespace, name))

    def volumes(self, namespace: str, claims: AbstractSet[str]) -> list[PersistentVolume]:
        """The volumes of the set behind claims: those that they name, and those that are reserved for them."""
        known = [self.claim(namespace, name) for name in claims]
        named = {claim.volume for claim in known if claim is not None}
        return [
            volume
            for volume in self._plan.of(PersistentVolume)
            if volume.name in named
            or (volume.claim_namespace == namespace and volume.claim_name in claims)
        ]

    def driver(self, claim: VolumeClaim) -> str:
        """The CSI driver behind a claim; empty where the set does not say."""
        for volume in self.volumes(claim.namespace, {claim.name}):
            if claim.volume in ("", volume.name):
                return volume.driver
        if claim.volume:
            return ""
        return self._classes.get(claim.storage_class, "")
