"""StorageClasses of EBS: their names, and that of volumes that hold what the cluster says of itself."""

from __future__ import annotations

from trainyard.catalog.ebs import DRIVER
from trainyard.core.storage.plan import VolumeClass
from trainyard.eks.settings.spec import ClusterSection
from trainyard.language.places import Route
from trainyard.plan.context import Context


def encrypted_class(context: Context, name: str, at: Route) -> VolumeClass:
    """gp3, encrypted, in the zone of the pod, deleted with its claim. EKS Auto Mode has a driver of its own (EKS user
    guide, create-storage-class)."""
    auto = ClusterSection.of(context.spec).auto_mode is not None
    return VolumeClass(
        at=at,
        name=name,
        driver="ebs.csi.eks.amazonaws.com" if auto else DRIVER,
        parameters={"type": "gp3", "encrypted": "true"},
        binding="WaitForFirstConsumer",
        reclaim="Delete",
        expansion=True,
    )


def class_name(storage: str) -> str:
    """The name of a storage's StorageClass; EKS has `gp2` of its own."""
    return f"ebs-{storage}"
