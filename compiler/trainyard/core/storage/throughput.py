"""How fast an FSx for Lustre file system is, in MB/s for each TiB of its capacity, and volumes of EBS.

Source: FSx for Lustre user guide, ssd-storage, and performance.md before it (awsdocs/amazon-fsx-lustre-user-guide
c55836f), "File system performance". Writes, and reads of what is in no cache, are as fast as the slower of network and
disks. Volumes of type gp3 have what they are sold by: 125 MiB/s unless more is paid for (EBS user guide,
general-purpose).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from trainyard.catalog.ebs import BASE_THROUGHPUT
from trainyard.core.storage.kinds import CreatedDisk, CreatedLustre
from trainyard.core.storage.spec import FsxLustre
from trainyard.language.dataclass import dataclass

FSX = "FSx for Lustre user guide, ssd-storage"
GP3 = "EBS user guide, general-purpose"
_TIB = 1024**4
_MIB = 1024**2
FileSystem: TypeAlias = "FsxLustre | CreatedLustre"


@dataclass(frozen=True, slots=True)
class Peak:
    """How fast a file system writes at most: to its disks, and through its network, which LZ4 compression may fill."""

    disk: float
    network: float


@dataclass(frozen=True, slots=True)
class Sustained:
    """How fast a file system writes and reads for as long as one likes: the baseline, without burst credits."""

    write: float
    read: float


# The larger of baseline and burst. Of SCRATCH_1 the disks alone are known. `None`: the spec does not say which.
_SSD_1, _SSD_2 = Peak(240, 1300), Peak(500, 1300)
_PEAKS: Mapping[str, Mapping[int | None, Peak]] = {
    "SCRATCH_1": {None: Peak(200, 1300)},
    "SCRATCH_2": {None: Peak(200, 1300)},
    "PERSISTENT_1": {
        12: Peak(50, 375),
        40: Peak(150, 1300),
        50: _SSD_1,
        100: _SSD_1,
        200: _SSD_1,
        None: _SSD_1,
    },
    "PERSISTENT_2": {
        125: _SSD_2,
        250: _SSD_2,
        500: _SSD_2,
        1000: Peak(1000, 2600),
        None: Peak(1000, 2600),
    },
}
# Baselines of the disks, which are below those of the network everywhere. Persistent ones have what they are sold by.
_SCRATCH = {"SCRATCH_1": Sustained(200, 200), "SCRATCH_2": Sustained(100, 200)}


def peak(fsx: FileSystem) -> Peak | None:
    """The most that a file system writes, in MB/s; ``None`` for a throughput that it cannot have."""
    speed = _PEAKS[fsx.deployment].get(fsx.throughput_per_tib)
    if speed is None:
        return None
    size = _tib(fsx)
    return Peak(speed.disk * size, speed.network * size)


def sustained(fsx: FileSystem) -> Sustained | None:
    """What a file system writes and reads all the time, in MB/s; ``None`` where its throughput is not known."""
    given = fsx.throughput_per_tib
    speed = _SCRATCH.get(fsx.deployment)
    if speed is None and given is not None:
        speed = Sustained(given, given)
    if speed is None:
        return None
    size = _tib(fsx)
    return Sustained(speed.write * size, speed.read * size)


def volumes(disk: CreatedDisk, count: int) -> Sustained:
    """What so many volumes write and read together, in MB/s."""
    throughput = disk.throughput or BASE_THROUGHPUT
    speed = count * throughput * _MIB / 1000**2
    return Sustained(speed, speed)


def _tib(fsx: FileSystem) -> float:
    return fsx.size.value / _TIB
