from __future__ import annotations

from collections.abc import Iterator

from trainyard.catalog.ami_families import AL2023, families
from trainyard.catalog.lustre import OLDEST
from trainyard.judge.model.storage import FSX
from trainyard.judge.model.values import mapping
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.language.places import Route
from trainyard.output.manifest import Manifest, placeholder


@rule(
    "RUN034",
    aliases=("class-makes-old-lustre",),
    severity=Severity.WARNING,
    kinds=("storage.k8s.io/StorageClass",),
)
def storage_class_lustre_version_unsupported(manifest: Manifest, world: World) -> Iterator[Finding]:
    """A storage class creates file systems of a Lustre version that the nodes cannot mount.

    `fileSystemTypeVersion` of the FSx CSI driver is 2.10 unless it is given, for all deployment types but
    PERSISTENT_2 (FSx API, CreateFileSystem; aws-fsx-csi-driver issue 399). Nodes of AL2023 have the Lustre client
    2.15, which mounts 2.12 and 2.15 only (FSx for Lustre user guide, lustre-client-matrix): the file system is
    created and paid for, and pods stay in ContainerCreating.

    ## Fails

        apiVersion: storage.k8s.io/v1
        kind: StorageClass
        metadata: {name: scratch}
        provisioner: fsx.csi.aws.com
        parameters: {subnetId: subnet-0a1b2c3d4e5f60718, deploymentType: SCRATCH_2}

    ## Passes

        apiVersion: storage.k8s.io/v1
        kind: StorageClass
        metadata: {name: scratch}
        provisioner: fsx.csi.aws.com
        parameters: {subnetId: subnet-0a1b2c3d4e5f60718, deploymentType: SCRATCH_2, fileSystemTypeVersion: "2.15"}
    """
    if manifest.body.get("provisioner") != FSX:
        return
    given = mapping(manifest.body, "parameters")
    version = str(given.get("fileSystemTypeVersion", ""))
    deployment = str(given.get("deploymentType", "SCRATCH_1"))
    if version not in ("", OLDEST) or placeholder(deployment):
        return
    if version == "" and deployment == "PERSISTENT_2":
        return
    family = families()[AL2023]
    if world.pools:
        booted = filter(None, map(world.ami_family, world.pools))
        unable = [each for each in booted if each.cannot_mount(OLDEST)]
        if not unable:
            return
        family = unable[0]
    default = "no `fileSystemTypeVersion`, which means Lustre 2.10"
    said = "Lustre `2.10`" if version else default
    at = Route((manifest.id, "parameters"))
    yield Finding(
        f"storage class `{manifest.ref.name}` creates file systems of {said}, "
        f"and {family.karpenter} nodes cannot mount them",
        at / "fileSystemTypeVersion" if version else at,
        label="pods stay in ContainerCreating",
        help='write `fileSystemTypeVersion: "2.15"`',
        key=not version,
    )
