"""The slices that NVIDIA's Multi-Instance GPU cuts a GPU into: how many of a profile one GPU has, and their memory.

Source: NVIDIA/mig-parted bd7160f (2026-08-21), deployments/systemd/config-default.yaml, ``all-PROFILE``, by the device
ids of its filters. A profile ``1g.10gb`` has one of seven compute slices. Memory comes in eighths of the GPU's (MIG
user guide, concepts: eight memory slices).
"""

from __future__ import annotations

from trainyard.catalog.instance import InstanceType
from trainyard.language.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Profile:
    """A kind of slice: its name, how many one GPU has, and its part of the GPU's memory in eighths."""

    name: str
    count: int
    eighths: int


def _profiles(small: int, large: int, half: int, whole: int) -> tuple[Profile, ...]:
    """The profiles of a GPU by the GB of an eighth, a quarter, a half, and all of its memory."""
    return (
        Profile(f"1g.{small}gb", 7, 1),
        Profile(f"1g.{large}gb", 4, 2),
        Profile(f"2g.{large}gb", 3, 2),
        Profile(f"3g.{half}gb", 2, 4),
        Profile(f"4g.{half}gb", 1, 4),
        Profile(f"7g.{whole}gb", 1, 8),
    )


_OF_GPU = {
    "H100": _profiles(10, 20, 40, 80),
    "H200": _profiles(18, 35, 71, 141),
    "B200": _profiles(23, 45, 90, 180),
    "B300": _profiles(34, 67, 135, 269),
}
_A100_40 = _profiles(5, 10, 20, 40)
_A100_80 = _profiles(10, 20, 40, 80)
_OF_40_GB = 64 * 1024
"""MiB between the two A100."""


def profiles_of(instance: InstanceType) -> tuple[Profile, ...]:
    """The profiles of the GPUs of a type; () where they cannot be cut, or no source says how."""
    name = instance.accelerator or ""
    if name == "A100":
        large = instance.accelerator_memory_mib > _OF_40_GB
        return _A100_80 if large else _A100_40
    return _OF_GPU.get(name, ())


def profile_of(instance: InstanceType, name: str) -> Profile | None:
    """The profile of a name, where the GPUs of a type have it."""
    for profile in profiles_of(instance):
        if profile.name == name:
            return profile
    return None
