from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.storage.plan import PersistentVolume, VolumeClaim
from trainyard.judge.model.bodies import body_at
from trainyard.judge.model.values import value_at
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity


@rule("RUN193", severity=Severity.WARNING)
def claim_takes_default_class(claim: VolumeClaim, world: World) -> Iterator[Finding]:
    """A claim for a volume that is there says no StorageClass, so that it gets the default one.

    Where a class is the default, admission writes it into every claim that says none, and a claim binds only to
    volumes of its own class (Kubernetes 1.36, persistent volumes: class): a new, empty disk is made for it, or it stays
    Pending. `storageClassName: ""` says that it has no class. A claim with the name of a volume (`volumeName`) is
    refused that volume as well.

    ## Fails

        apiVersion: v1
        kind: PersistentVolumeClaim
        metadata: {name: data, namespace: team-a}
        spec: {accessModes: [ReadWriteMany], volumeName: data, resources: {requests: {storage: 1200Gi}}}
        ---
        apiVersion: v1
        kind: PersistentVolume
        metadata: {name: data}
        spec: {capacity: {storage: 1200Gi}, accessModes: [ReadWriteMany], storageClassName: "",
          csi: {driver: fsx.csi.aws.com, volumeHandle: fs-0123456789abcdef0}}

    ## Passes

        # as the first that fails, but
        kind: PersistentVolumeClaim
        spec: {storageClassName: ""}
    """
    if claim.storage_class is not None or (claim.volume and _has_default_class(world)):
        return  # with the class at hand SCH012 says which one it gets
    for volume in world.plan.of(PersistentVolume):
        if body_at(world, volume.at / "spec" / "storageClassName") or not _is_meant(claim, volume):
            continue
        yield Finding(
            f"claim `{claim.name}` is for volume `{volume.name}`, which has no class, and gets the default class",
            claim.at / "kind",
            label="it does not bind to the volume",
            help='write `storageClassName: ""`',
        )
        return


def _has_default_class(world: World) -> bool:
    """Whether the set has the class that claims without one get."""
    return any(
        value_at(manifest.body, "metadata", "annotations", _DEFAULT) == "true"
        for manifest in world.manifests
        if manifest.ref.kind == "StorageClass"
    )


_DEFAULT = "storageclass.kubernetes.io/is-default-class"


def _is_meant(claim: VolumeClaim, volume: PersistentVolume) -> bool:
    """Whether a claim is for a volume: by a name of either, or as the only one that it fits by name."""
    if claim.volume:
        return claim.volume == volume.name
    if volume.claim_name:
        return (volume.claim_namespace, volume.claim_name) == (claim.namespace, claim.name)
    return claim.name == volume.name
