from __future__ import annotations

from collections.abc import Iterator

from trainyard.catalog.ebs import DRIVER
from trainyard.core.storage.plan import VolumeClass
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity


@rule("PLC071", severity=Severity.WARNING)
def ebs_volume_before_pod(volume_class: VolumeClass) -> Iterator[Finding]:
    """A storage class makes EBS volumes before it is known where their pods run.

    With `volumeBindingMode: Immediate`, which is the default, a volume is made in any zone, and it is attached in that
    zone alone: a pod whose nodes are in another one stays Pending (Kubernetes, storage classes; aws-ebs-csi-driver
    v1.63.1, docs/parameters.md, volume availability zone). A class of one zone is left alone.

    ## Fails

        apiVersion: storage.k8s.io/v1
        kind: StorageClass
        metadata: {name: fast}
        provisioner: ebs.csi.aws.com
        parameters: {type: gp3, encrypted: "true"}

    ## Passes

        apiVersion: storage.k8s.io/v1
        kind: StorageClass
        metadata: {name: fast}
        provisioner: ebs.csi.aws.com
        volumeBindingMode: WaitForFirstConsumer
        parameters: {type: gp3, encrypted: "true"}
    """
    if volume_class.driver != DRIVER or volume_class.binding == "WaitForFirstConsumer":
        return
    if len(volume_class.zones) == 1:
        return
    yield Finding(
        f"storage class `{volume_class.name}` makes volumes before their pods are placed",
        volume_class.where("binding"),
        key=True,
        help="write `volumeBindingMode: WaitForFirstConsumer`",
    )
