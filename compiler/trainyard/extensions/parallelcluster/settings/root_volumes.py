"""What ParallelCluster takes as the root volume of a node. Its limits are older than those of EBS.

Source: aws-parallelcluster 3.16.1, RootVolumeSizeValidator (its images have 45 GiB), EbsVolumeTypeSizeValidator,
EbsVolumeIopsValidator, EbsVolumeThroughputValidator.
"""

from __future__ import annotations

from trainyard.core.pools.spec import Volume
from trainyard.language.places import Route
from trainyard.language.units import Quantity
from trainyard.plan.context import Context

_IMAGE_GIB, _MOST_GIB = 45, 16384
_MOST_IOPS, _MOST_THROUGHPUT = 16000, 1000


def check_root_size(context: Context, whose: str, size: Quantity | None, at: Route) -> None:
    """Report a size that ParallelCluster refuses; ``whose`` begins the sentence."""
    if size is None:
        return
    if size < Quantity.gib(_IMAGE_GIB):
        what = f"is smaller than the image that it boots, of {_IMAGE_GIB}Gi"
        _refuse(context, f"{whose} of {size} {what}", at, "write `100Gi` or more")
    elif size > Quantity.gib(_MOST_GIB):
        what = f"is larger than ParallelCluster takes, {_MOST_GIB}Gi"
        _refuse(context, f"{whose} of {size} {what}", at, f"write `{_MOST_GIB}Gi` at most")


def check_root_volume(context: Context, whose: str, volume: Volume | None, at: Route) -> None:
    """Report what of a volume ParallelCluster refuses; ``whose`` begins each sentence."""
    if volume is None:
        return
    check_root_size(context, whose, volume.size, at / "size")
    for key, value, most in (
        ("iops", volume.iops, _MOST_IOPS),
        ("throughput", volume.throughput, _MOST_THROUGHPUT),
    ):
        if value is not None and value > most:
            what = f"has `{key}: {value}`, and ParallelCluster takes {most} at most"
            _refuse(context, f"{whose} {what}", at / key, f"write `{most}` at most")


def _refuse(context: Context, message: str, at: Route, help: str) -> None:
    context.fault(
        "RES390", message, at, help, source="aws-parallelcluster 3.16.1, validators of EBS"
    )
