"""Limits of EBS gp3 volumes, wherever a volume is requested (a StorageClass, a template, a node class).

Sources: botocore 1.44.5 ec2, CreateVolume: Size, Iops and Throughput of gp3. EBS user guide, general-purpose: 500 IOPS
for each GiB, and 0.25 MiB/s for each IOPS; the base of 3000 IOPS and 125 MiB/s is every volume's.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.language.dataclass import dataclass

DRIVER = "ebs.csi.aws.com"
_API = "EC2 API, CreateVolume (botocore 1.44.5)"
_GUIDE = "EBS user guide, general-purpose"
BASE_IOPS, BASE_THROUGHPUT = 3000, 125
"""What every volume has, the throughput in MiB/s; more is paid for."""
_SIZES, _IOPS, _THROUGHPUT = ((1, 65536), (BASE_IOPS, 80000), (BASE_THROUGHPUT, 2000))
_IOPS_A_GIB, _IOPS_A_MIB = 500, 4


@dataclass(frozen=True, slots=True)
class Refusal:
    """What EBS refuses: the field, the fact, what to write instead, and the source."""

    field: str
    what: str
    help: str
    source: str


def refusals(size: int | None, iops: int | None, throughput: int | None) -> Iterator[Refusal]:
    """What EBS refuses of a size in GiB, of IOPS, and of a throughput in MiB/s; unknown values are not checked."""
    for field, value, bounds, unit in (
        ("size", size, _SIZES, "GiB"),
        ("iops", iops, _IOPS, "IOPS"),
        ("throughput", throughput, _THROUGHPUT, "MiB/s"),
    ):
        least, most = bounds
        if value is None:
            continue
        if not least <= value <= most:
            what = f"no volume of gp3 has {value} {unit}"
            help = f"write {least} to {most}"
            yield Refusal(field, what, help, _API)
            return
    # A volume too small for the base of 3000 IOPS has them all the same.
    if iops is not None and size is not None:
        most = max(size * _IOPS_A_GIB, _IOPS[0])
        if iops > most:
            what = f"a volume of {size} GiB has at most {most} IOPS, not {iops}"
            least = -(-iops // _IOPS_A_GIB)
            help = f"write `iops: {most}`, or {least} GiB"
            yield Refusal("iops", what, help, _GUIDE)
    if throughput is not None:
        given = iops or _IOPS[0]
        if throughput * _IOPS_A_MIB > given:
            limit = given // _IOPS_A_MIB
            what = f"a volume of {given} IOPS has at most {limit} MiB/s, not {throughput}"
            help = f"write `iops: {throughput * _IOPS_A_MIB}` too, or less"
            yield Refusal("throughput", what, help, _GUIDE)
