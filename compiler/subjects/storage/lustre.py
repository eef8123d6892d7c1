"""FSx for Lustre: which sizes and throughputs a file system can have.

Sources: botocore 1.44.5 fsx (CreateFileSystem StorageCapacity, PerUnitStorageThroughput) and the FSx for Lustre guide.
"""

from __future__ import annotations

from compiler.diagnostics.diagnostic import listed
from compiler.resolve.context import Context
from compiler.source import Route
from compiler.subjects.storage.spec import FsxLustre

_GIB = 1024**3
_THROUGHPUT = {
    "SCRATCH_1": (),
    "SCRATCH_2": (),
    "PERSISTENT_1": (12, 40, 50, 100, 200),
    "PERSISTENT_2": (125, 250, 500, 1000),
}
_HDD = {12: 6000, 40: 1800}  # MB/s for each TiB of disks: sizes step by so many GiB


def check_file_system(context: Context, fsx: FsxLustre, at: Route) -> None:
    """Report a size or throughput that no file system of this deployment has."""
    if fsx.zone is not None:
        context.in_region(fsx.zone, at / "zone")
    steps = _steps(fsx)
    if not _fits(fsx.size.value, steps):
        near = listed(
            (f"{size}Gi" for size in _nearest(fsx.size.value // _GIB, steps)), " or "
        )
        context.fault(
            "RES022",
            f"no {fsx.deployment} file system has a size of `{fsx.size}`",
            at / "size",
            f"write its StorageCapacity: {near} are the nearest there are",
        )
    known, given = _THROUGHPUT[fsx.deployment], fsx.throughput_per_tib
    if given is not None and given not in known:
        context.fault(
            "RES023",
            f"no {fsx.deployment} file system has a throughput of {given} MB/s for each TiB",
            at / "throughputPerTiB",
            f"write one of {listed(known)}"
            if known
            else "remove it: scratch file systems have a fixed throughput",
        )


def _steps(fsx: FsxLustre) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Single sizes, and sizes whose multiples are valid too, in GiB."""
    if fsx.deployment == "SCRATCH_1":
        return (1200, 2400), (3600,)
    if fsx.deployment == "PERSISTENT_1":
        if fsx.throughput_per_tib in _HDD:
            return (), (_HDD[fsx.throughput_per_tib],)
        if fsx.throughput_per_tib is None:  # disks or SSD: not said
            return (1200,), (2400, *_HDD.values())
    return (1200,), (2400,)


def _fits(size: int, steps: tuple[tuple[int, ...], tuple[int, ...]]) -> bool:
    gib, rest = divmod(size, _GIB)
    return (
        not rest
        and gib > 0
        and (gib in steps[0] or any(gib % step == 0 for step in steps[1]))
    )


def _nearest(gib: int, steps: tuple[tuple[int, ...], tuple[int, ...]]) -> list[int]:
    sizes = {
        *steps[0],
        *(step * (gib // step + more) for step in steps[1] for more in (0, 1)),
    } - {0}
    below, above = (
        [size for size in sizes if size <= gib],
        [size for size in sizes if size > gib],
    )
    return sorted([*([max(below)] if below else []), *([min(above)] if above else [])])
