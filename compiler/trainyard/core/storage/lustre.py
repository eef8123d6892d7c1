"""FSx for Lustre: which sizes and throughputs a file system can have.

Sources: botocore 1.44.5 fsx (CreateFileSystem StorageCapacity, PerUnitStorageThroughput) and the FSx for Lustre guide.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainyard.core.network.zones import in_region
from trainyard.core.storage.spec import FsxLustre
from trainyard.language.dataclass import dataclass
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.places import Route
from trainyard.plan.context import Context

if TYPE_CHECKING:
    from trainyard.core.storage.kinds import CreatedLustre

_GIB = 1024**3
_THROUGHPUT = {
    "SCRATCH_1": (),
    "SCRATCH_2": (),
    "PERSISTENT_1": (12, 40, 50, 100, 200),
    "PERSISTENT_2": (125, 250, 500, 1000),
}
_HDD = {12: 6000, 40: 1800}  # MB/s for each TiB of disks: sizes step by so many GiB


@dataclass(frozen=True, slots=True)
class _Steps:
    """Single sizes, and sizes whose multiples are valid too, in GiB."""

    single: tuple[int, ...]
    multiples: tuple[int, ...]


def check_file_system(context: Context, fsx: FsxLustre | CreatedLustre, at: Route) -> None:
    """Report a size or throughput that no file system of this deployment has."""
    if fsx.zone is not None:
        in_region(context, fsx.zone, at / "zone")
    steps = _steps(fsx)
    if not _fits(fsx.size.value, steps):
        nearest = _nearest(fsx.size.value // _GIB, steps)
        sizes = listed((f"{gib}Gi" for gib in nearest), " or ")
        context.fault(
            "RES022",
            f"no {fsx.deployment} file system has a size of `{fsx.size}`",
            at / "size",
            f"write its StorageCapacity: {sizes} are the nearest there are",
        )
    known = _THROUGHPUT[fsx.deployment]
    given = fsx.throughput_per_tib
    if given is not None and given not in known:
        help = "remove it: scratch file systems have a fixed throughput"
        if known:
            help = f"write one of {listed(known)}"
        context.fault(
            "RES023",
            f"no {fsx.deployment} file system has a throughput of {given} MB/s for each TiB",
            at / "throughputPerTiB",
            help,
        )


def _steps(fsx: FsxLustre | CreatedLustre) -> _Steps:
    """The sizes that a file system can have."""
    if fsx.deployment == "SCRATCH_1":
        return _Steps((1200, 2400), (3600,))
    if fsx.deployment == "PERSISTENT_1":
        if fsx.throughput_per_tib in _HDD:
            return _Steps((), (_HDD[fsx.throughput_per_tib],))
        if fsx.throughput_per_tib is None:  # disks or SSD: not said
            return _Steps((1200,), (2400, *_HDD.values()))
    return _Steps((1200,), (2400,))


def _fits(size: int, steps: _Steps) -> bool:
    gib, rest = divmod(size, _GIB)
    if rest or gib <= 0:
        return False
    if gib in steps.single:
        return True
    return any(gib % step == 0 for step in steps.multiples)


def _nearest(gib: int, steps: _Steps) -> list[int]:
    """The largest size below, if there is one, and the smallest above."""
    sizes = set(steps.single)
    for step in steps.multiples:
        below = gib // step * step
        sizes.update({below, below + step})
    sizes.discard(0)
    nearest = []
    smaller = [size for size in sizes if size <= gib]
    if smaller:
        nearest.append(max(smaller))
    return [*nearest, min(size for size in sizes if size > gib)]
