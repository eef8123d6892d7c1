"""Versions of the EFA stack in images: what an installer brings, what a plugin needs, and since when it knows a type.

Sources: EC2 user guide, efa-changelog (installers to 1.51.0, 2026-10-22); aws-ofi-nccl RELEASENOTES.md of v1.21.1 and
of the releases that it lists (2026-08); AWS Deep Learning Containers, available images (tags).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from trainyard.catalog.instance import InstanceType
from trainyard.language.dataclass import dataclass

Version = tuple[int, ...]
CHANGELOG = "EC2 user guide, efa-changelog"
NOTES = "aws-ofi-nccl v1.21.1, RELEASENOTES.md"

BUNDLED: Mapping[str, str] = {
    "1.40.0": "1.14.2",
    "1.42.0": "1.15.0",
    "1.43.0": "1.16.1",
    "1.43.1": "1.16.2",
    "1.43.2": "1.16.3",
    "1.50.0": "1.21.1",
    "1.51.0": "1.22.0",
}
"""The aws-ofi-nccl that an EFA installer brings, of the installers whose entry in the changelog says it."""

LEAST_NCCL: tuple[tuple[Version, Version], ...] = (((1, 10, 0), (2, 17, 1)), ((0, 0, 0), (2, 4, 8)))
"""The oldest NCCL that a plugin of a version, or newer, works with; the first that fits."""

KNOWN_SINCE: Mapping[str, Version] = {
    "p5en.": (1, 13, 0),
    "p6-b200.": (1, 15, 0),
    "p5.4xlarge": (1, 16, 2),
    "g7e.": (1, 17, 2),
    "p6-b300.": (1, 18, 0),
}
"""The first plugin with support for a type, by the beginning of its name."""

PLUGIN_KNOWS_SINCE: Mapping[str, Version] = {
    "p4de.": (0, 4, 4),
    "g6.": (0, 5, 5),
    "g6e.": (0, 5, 5),
    "gr6.": (0, 5, 5),
    "p5e.": (0, 5, 5),
    "p5en.": (0, 5, 6),
    "trn2.": (0, 5, 7),
    "trn2u.": (0, 5, 9),
    "p6-b200.": (0, 5, 9),
    "p6e-gb200.": (0, 5, 14),
    "p5.4xlarge": (0, 5, 23),
    "p6-b300.": (0, 5, 23),
    "g7e.": (0, 5, 23),
    "p6e-gb300.": (0, 5, 24),
    "g7.": (0, 5, 30),
}
"""The first chart of EFA's device plugin that runs on a type, by the beginning of its name (aws/eks-charts,
stable/aws-efa-k8s-device-plugin, values.yaml of each version to v0.5.30: supportedInstanceLabels)."""

CUDA_13_SINCE: Version = (1, 17, 0)
"""The first plugin with the CUDA API of 13.0."""

_OLD_NITRO = (
    *("c5n.", "dl1.", "dl2q.", "g4dn.", "g5.", "i3en.", "inf1.", "m5dn.", "m5n.", "m5zn.", "p3dn."),
    *("p4d.", "p4de.", "r5dn.", "r5n.", "vt1.", "x2iezn."),
)
"""What the names of types with EFA on Nitro v3 begin with (EC2 user guide, efa: supported types, read 2026-11)."""
LUSTRE_CLIENTS = "FSx for Lustre user guide, efa-file-systems, read 2026-11"

SYNC_VARIABLE = "FI_EFA_SET_CUDA_SYNC_MEMOPS"
OLD_INSTALLER: Version = (1, 29, 1)
NEW_NCCL: Version = (2, 19, 0)
CHEATSHEET = "awsome-distributed-training, EFA cheat sheet: FI_EFA_SET_CUDA_SYNC_MEMOPS"
"""Before this installer, NCCL from this version on fails to register memory, unless the variable is 0."""

_NAMED = (
    r"(?:^|/)(?:pytorch/pytorch|pytorch(?:-(?:training|inference))?(?:-arm64)?)"
    r":(?P<torch>\d+\.\d+\.\d+)-(?:gpu-|cuda)\S*?"
)
_CUDA = r"[-:](?:cu(\d{2})(\d)|cuda(\d+)\.(\d+))(?=[.@-]|$)"


def reads_remote_memory(instance: InstanceType) -> bool:
    """Whether EFA of a type reads the memory of another node by itself: from Nitro v4 on, with or without GPUs, and
    where it reaches that of GPUs (EC2 user guide, efa: "RDMA read is supported on all instances with Nitro version 4
    and later", read 2026-11)."""
    if not instance.efa_interfaces:
        return False
    return instance.gpudirect_rdma or not instance.name.startswith(_OLD_NITRO)


def mounts_lustre(instance_type: str) -> bool:
    """Whether a type with EFA can be a client of FSx for Lustre over it: from Nitro v4 on, and not trn2
    (``LUSTRE_CLIENTS``)."""
    return not instance_type.startswith((*_OLD_NITRO, "trn2."))


@dataclass(frozen=True, slots=True)
class BaseVersions:
    """What the tag of an image says of its content; ``None`` where it does not."""

    torch: str | None = None
    cuda: str | None = None


def versions_of(image: str) -> BaseVersions:
    """PyTorch and CUDA of a Deep Learning Container, or of Docker Hub's `pytorch/pytorch`, by its tag."""
    reference = image.partition("@")[0]
    named = re.search(_NAMED, reference)
    if named is None:
        return BaseVersions()
    cuda = re.search(_CUDA, reference)
    if cuda is None:
        return BaseVersions(named["torch"])
    major = cuda[1] or cuda[3]
    minor = cuda[2] or cuda[4]
    return BaseVersions(named["torch"], f"{major}.{minor}")


def arch_of(image: str) -> str | None:
    """The architecture that the name of an image says: `-arm64` in the repository of a Deep Learning Container."""
    if "arm64" in image.partition("@")[0]:
        return "arm64"
    return None


def numbers(version: str) -> Version:
    """A version as numbers, to compare."""
    return tuple(map(int, version.split(".")))


def bundled(installer: str) -> str | None:
    """The aws-ofi-nccl of an EFA installer, where it is known."""
    return BUNDLED.get(installer)


def least_nccl(plugin: str) -> Version:
    """The oldest NCCL that a plugin works with."""
    version = numbers(plugin)
    fitting = (nccl for since, nccl in LEAST_NCCL if version >= since)
    return next(fitting)


def known_since(instance_type: str, since: Mapping[str, Version] = KNOWN_SINCE) -> Version | None:
    """The first version with support for a type, of aws-ofi-nccl or of another table, where that is known."""
    for prefix, version in since.items():
        if instance_type.startswith(prefix):
            return version
    return None
