"""Converts EC2's answers to entries of the data file, both stored (``build``) and live (``refresh``)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

Info = Mapping[str, Any]
"""One element of DescribeInstanceTypes' ``InstanceTypes``, of the stored or of the live answer."""

# A count of 0 GPUs is written all the same: a slice of a GPU is not the same as none.
_DEFAULTS: tuple[Any, ...] = (None, False, 0, "", [], "amd64")
# Neuron documentation 2.29.0, Trainium2 architecture: 96 GiB a device (EC2's stored answer says 512), and by default
# two physical cores make a logical one (logical-neuroncore-config).
_NEURON: Mapping[str, Mapping[str, Any]] = {
    "Trainium2": {"accelerator_memory_mib": 98304, "neuron_lnc": 2}
}
_PERFORMANCE = re.compile(r"(?P<burst>Up to )?(?:(?P<cards>\d+)x )?(?P<gbps>[\d.]+) Gigabit\Z")


def row(info: Info) -> dict[str, Any]:
    """The entry of one type, defaults left out, without zones, prices and what EC2 does not say."""
    network = info["NetworkInfo"]
    architectures = info["ProcessorInfo"]["SupportedArchitectures"]
    strategies = info.get("PlacementGroupInfo", {}).get("SupportedStrategies", ())
    entry: dict[str, Any] = {
        "vcpus": info["VCpuInfo"]["DefaultVCpus"],
        "threads": _threads(info["VCpuInfo"]),
        "memory_mib": info["MemoryInfo"]["SizeInMiB"],
        "arch": "arm64" if "arm64" in architectures else "amd64",
        "bare_metal": info.get("BareMetal", False),
        **_gpus(info.get("GpuInfo", {}).get("Gpus", ())),
        **_neuron(info.get("NeuronInfo", {}).get("NeuronDevices", ())),
        "efa": network.get("EfaInfo", {}).get("MaximumEfaInterfaces", 0),
        "cards": _cards(network.get("NetworkCards", ())),
        "ipv4": network.get("Ipv4AddressesPerInterface", 0),
        **_bandwidth(network.get("NetworkPerformance", "")),
        "nvme": _nvme(info.get("InstanceStorageInfo", {})),
        "placement": " ".join(sorted(strategies)),
        "usage": " ".join(sorted(info.get("SupportedUsageClasses", ()))),
    }
    return {
        key: value
        for key, value in entry.items()
        if value not in _DEFAULTS or (key == "gpus" and value == 0)
    }


def _threads(vcpus: Mapping[str, Any]) -> int | None:
    """The threads of a core where there is one; two are the default of the entry."""
    return 1 if vcpus.get("DefaultThreadsPerCore") == 1 else None


def is_wanted(name: str, info: Info, families: Iterable[str]) -> bool:
    """Whether a type belongs in the catalog: accelerated, HPC, or of a family that is asked for."""
    family = name.partition(".")[0]
    if "NeuronInfo" in info or family in families:
        return True
    if family.startswith("hpc"):
        return True
    gpus = info.get("GpuInfo", {}).get("Gpus", ())
    return any(gpu["Manufacturer"] == "NVIDIA" for gpu in gpus)


def zone_text(zones: Mapping[str, Iterable[str]]) -> str:
    """The compact form ``us-east-1:abf us-west-2:a``. Local and Wavelength zones have no EKS nodes of these types."""
    parts = []
    for region, names in sorted(zones.items()):
        letters = "".join(sorted(plain_letters(region, names)))
        if letters:
            parts.append(f"{region}:{letters}")
    return " ".join(parts)


def plain_letters(region: str, zones: Iterable[str]) -> set[str]:
    """The letters of a region's ordinary zones."""
    length = len(region) + 1
    whole = [zone for zone in zones if len(zone) == length]
    return {zone[-1] for zone in whole if zone.startswith(region)}


def _gpus(gpus: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    for gpu in gpus:
        if gpu["Manufacturer"] == "NVIDIA":  # the only one with a device plugin here
            partition = gpu.get("GpuPartitionSize", 1.0)
            return {
                "gpus": gpu["Count"],
                "accelerator": gpu["Name"],
                "accelerator_memory_mib": gpu.get("MemoryInfo", {}).get("SizeInMiB", 0),
                "gpu_partition": partition if partition != 1.0 else None,
            }
    return {}


def _neuron(devices: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    for device in devices:
        count = device["Count"]
        return {
            "neuron": count,
            "accelerator": device["Name"],
            "accelerator_memory_mib": device.get("MemoryInfo", {}).get("SizeInMiB", 0),
            "neuron_cores": count * device["CoreInfo"]["Count"],
            **_NEURON.get(device["Name"], {}),
        }
    return {}


def _cards(cards: Iterable[Mapping[str, Any]]) -> list[list[Any]]:
    """Runs of cards that are alike: first and last index, interfaces, their types."""
    in_order = sorted(cards, key=lambda card: int(card["NetworkCardIndex"]))
    runs: list[list[Any]] = []
    for card in in_order:
        index = card["NetworkCardIndex"]
        count = card["MaximumNetworkInterfaces"]
        types = " ".join(card.get("InterfaceTypes", ("interface",)))
        if runs:
            last = runs[-1]
        else:
            last = []
        if last[2:] == [count, types]:
            last[1] = index
        else:
            runs.append([index, index, count, types])
    return runs


def _bandwidth(text: str) -> dict[str, Any]:
    # The text, not the sum over cards: the sum is wrong for p6-b200, p6-b300 and g6e.
    performance = _PERFORMANCE.match(text)
    if performance is None:
        return {}
    cards = int(performance["cards"] or 1)
    rate = float(performance["gbps"])
    gbps = round(rate * cards, 3)
    return {"gbps": int(gbps) if gbps.is_integer() else gbps, "burst": bool(performance["burst"])}


def _nvme(storage: Mapping[str, Any]) -> list[int] | None:
    if not storage.get("TotalSizeInGB"):
        return None
    listed = storage.get("Disks", ())
    disks = sum(disk["Count"] for disk in listed)
    return [storage["TotalSizeInGB"], disks]
