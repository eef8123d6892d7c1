from __future__ import annotations

from collections.abc import Iterator

from trainyard.catalog.ebs import DRIVER, refusals
from trainyard.core.storage.plan import VolumeClaim, VolumeClass
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.places import Route
from trainyard.language.units import count
from trainyard.output.manifest import placeholder
from trainyard.plan import Plan

_GIB = 1024**3
_FIELDS = ("iops", "throughput")


@rule("PLC070")
def ebs_volume_refused(volume_class: VolumeClass, world: World) -> Iterator[Finding]:
    """A storage class asks for volumes of gp3 that EBS refuses.

    A volume of gp3 has 1 to 65536 GiB, 3000 to 80000 IOPS and 125 to 2000 MiB/s (EC2 API, CreateVolume, botocore
    1.44.5), at most 500 IOPS for each GiB and 0.25 MiB/s for each IOPS (EBS user guide, general-purpose). The claim
    stays Pending, and so does its pod. The driver lowers IOPS that are too many without a word (aws-ebs-csi-driver
    v1.63.1, docs/parameters.md).

    ## Fails

        apiVersion: storage.k8s.io/v1
        kind: StorageClass
        metadata: {name: fast}
        provisioner: ebs.csi.aws.com
        volumeBindingMode: WaitForFirstConsumer
        parameters: {type: gp3, encrypted: "true", throughput: "1000"}

        apiVersion: storage.k8s.io/v1
        kind: StorageClass
        metadata: {name: fast}
        provisioner: ebs.csi.aws.com
        volumeBindingMode: WaitForFirstConsumer
        parameters: {type: gp3, encrypted: "true", iops: "100000"}

    ## Passes

        apiVersion: storage.k8s.io/v1
        kind: StorageClass
        metadata: {name: fast}
        provisioner: ebs.csi.aws.com
        volumeBindingMode: WaitForFirstConsumer
        parameters: {type: gp3, encrypted: "true", iops: "4000", throughput: "1000"}
    """
    given = {key.lower(): text for key, text in volume_class.parameters.items()}
    if volume_class.driver != DRIVER:
        return
    if given.get("type", "gp3") != "gp3":
        return
    iops, throughput = (count(given.get(field)) for field in _FIELDS)
    if "iopspergb" in given:
        return
    if any(placeholder(given.get(field, "")) for field in _FIELDS):
        return
    for size, at in _sizes(volume_class, world.plan):
        for refusal in refusals(size, iops, throughput):
            if (size is not None) != _by_size(refusal.what):
                continue  # of the class itself it is reported once
            place = at
            if size is None:
                place = volume_class.where(f"parameters.{refusal.field}")
            yield Finding(
                refusal.what,
                place,
                label="EBS refuses it: the claim stays Pending",
                help=refusal.help,
            )


def _by_size(what: str) -> bool:
    """Whether a refusal is about a size."""
    return what.endswith("GiB") or " GiB has " in what


def _sizes(volume_class: VolumeClass, plan: Plan) -> Iterator[tuple[int | None, Route]]:
    """No size, for what the class says by itself; then the size in GiB of each of its claims."""
    yield None, volume_class.at
    for claim in plan.of(VolumeClaim):
        if claim.storage_class == volume_class.name:
            yield (
                -(-claim.size.value // _GIB),
                claim.at / "spec" / "resources" / "requests" / "storage",
            )
