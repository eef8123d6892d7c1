from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.storage.plan import VolumeClaim
from trainyard.judge.model.lustre import Asked, refusals
from trainyard.judge.model.storage import FSX
from trainyard.judge.model.values import mapping
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.places import Route
from trainyard.language.units import count
from trainyard.output.manifest import Manifest, placeholder
from trainyard.plan import Plan

_PARAMETERS = {
    "deployment": "deploymentType",
    "imports": "s3ImportPath",
    "exports": "s3ExportPath",
    "backup_days": "automaticBackupRetentionDays",
    "efa": "efaEnabled",
    "throughput": "perUnitStorageThroughput",
}
_GIB = 1024**3
_STEP = 2400


@rule("RUN080", kinds=("storage.k8s.io/StorageClass",))
def storage_class_refused(manifest: Manifest, world: World) -> Iterator[Finding]:
    """A storage class asks for file systems that FSx refuses.

    The FSx CSI driver hands its parameters to CreateFileSystem as they are, and the claim stays Pending
    (aws-fsx-csi-driver 1.17.0, pkg/cloud). PERSISTENT_2 is linked to S3 by data repository associations alone, which
    the driver does not make (aws-fsx-csi-driver issues 367 and 412); an export path needs an import path; what is
    linked, or is scratch, has no backups (FSx for Lustre user guide, using-backups-fsx); each deployment has its own
    throughputs (FSx API, PerUnitStorageThroughput). With EFA the size of a claim is a multiple of 38400, 19200, 9600 or
    4800 GiB, and the driver rounds up to 2400 (increase-storage-capacity).

    ## Fails

        apiVersion: storage.k8s.io/v1
        kind: StorageClass
        metadata: {name: lustre}
        provisioner: fsx.csi.aws.com
        parameters: {subnetId: subnet-0a1b2c3d4e5f60718, deploymentType: PERSISTENT_2, perUnitStorageThroughput: "125",
          s3ImportPath: "s3://training-data"}

        apiVersion: storage.k8s.io/v1
        kind: StorageClass
        metadata: {name: lustre}
        provisioner: fsx.csi.aws.com
        parameters: {subnetId: subnet-0a1b2c3d4e5f60718, deploymentType: SCRATCH_2, fileSystemTypeVersion: "2.15",
          s3ExportPath: "s3://training-data/out"}

        apiVersion: storage.k8s.io/v1
        kind: StorageClass
        metadata: {name: lustre}
        provisioner: fsx.csi.aws.com
        parameters: {subnetId: subnet-0a1b2c3d4e5f60718, deploymentType: PERSISTENT_2, perUnitStorageThroughput: "200",
          fileSystemTypeVersion: "2.15"}

    ## Passes

        apiVersion: storage.k8s.io/v1
        kind: StorageClass
        metadata: {name: lustre}
        provisioner: fsx.csi.aws.com
        parameters: {subnetId: subnet-0a1b2c3d4e5f60718, deploymentType: SCRATCH_2, fileSystemTypeVersion: "2.15",
          s3ImportPath: "s3://training-data", s3ExportPath: "s3://training-data/out"}
    """
    if manifest.body.get("provisioner") != FSX:
        return
    given = {
        key: str(text)
        for key, text in mapping(manifest.body, "parameters").items()
        if not placeholder(str(text))
    }
    for size, at in _sizes(manifest, world.plan):
        asked = Asked(
            deployment=given.get("deploymentType"),
            imports=bool(given.get("s3ImportPath")),
            exports=bool(given.get("s3ExportPath")),
            backup_days=count(given.get("automaticBackupRetentionDays")),
            efa=given.get("efaEnabled") == "true",
            size=size,
            throughput=count(given.get("perUnitStorageThroughput")),
        )
        for refusal in refusals(asked):
            if (refusal.field == "size") != (size is not None):
                continue  # of the class itself it is reported once
            yield Finding(
                f"a file system of storage class `{manifest.ref.name}` {refusal.what}",
                at if size is not None else _place(manifest, refusal.field),
                label="FSx refuses it: the claim stays Pending",
                help=refusal.help,
            )


def _sizes(manifest: Manifest, plan: Plan) -> Iterator[tuple[int | None, Route]]:
    """No size, for what the class says by itself; then the size in GiB of each of its claims, as the driver asks for
    it."""
    yield None, Route((manifest.id,))
    for claim in plan.of(VolumeClaim):
        if claim.storage_class == manifest.ref.name:
            gib = -(-claim.size.value // _GIB)
            yield (
                max(1200, -(-gib // _STEP) * _STEP),
                claim.at / "spec" / "resources" / "requests" / "storage",
            )


def _place(manifest: Manifest, field: str) -> Route:
    return Route((manifest.id, "parameters", _PARAMETERS[field]))
