"""The catalog as a table: pure, for ``trainyard catalog``."""

from __future__ import annotations

from trainyard.catalog.capacity import allocatable
from trainyard.catalog.catalog import Catalog
from trainyard.catalog.instance import InstanceType
from trainyard.catalog.prices import price_sources

HEADER = (
    "type",
    "arch",
    "accelerators",
    "EFA",
    "vCPU",
    "MiB",
    "allocatable",
    "Gbit/s",
    "NVMe GB",
    "block",
    "regions",
    "USD/h",
)
"""``allocatable`` is milli-CPU and MiB in Karpenter's view, huge pages taken on types with EFA."""


def rows(catalog: Catalog, filter: str = "") -> list[tuple[str, ...]]:
    """One row a type, without header. Every word of ``filter`` must match: it is part of the type's or the
    accelerator's name, a region or zone that offers the type, ``efa``, ``block``, ``spot``, ``amx``, ``arm64`` or
    ``amd64``.
    """
    words = filter.lower().split()
    types = sorted(catalog.instance_types.values(), key=_order)
    for word in words:
        types = [instance for instance in types if _matches(instance, word)]
    return [_row(instance) for instance in types]


def _order(instance: InstanceType) -> tuple[str, int, str]:
    return instance.family, instance.vcpus, instance.name


def source_rows(catalog: Catalog) -> list[tuple[str, str, str, str]]:
    """One row a source: what, from where, version, date."""
    return [
        (source.name, source.url_or_package, source.version, source.date)
        for source in (*catalog.sources, *price_sources())
    ]


def _matches(instance: InstanceType, word: str) -> bool:
    flags = {
        "efa": instance.efa_interfaces > 0,
        "block": instance.capacity_block,
        "spot": instance.spot,
        "amx": instance.amx,
        "arm64": instance.arch == "arm64",
        "amd64": instance.arch == "amd64",
    }
    if word in flags:
        return flags[word]
    accelerator = (instance.accelerator or "").lower()
    if word in instance.name or word in accelerator:
        return True
    if word in instance.zones:
        return True
    zones_by_region = instance.zones.values()
    return any(word in zones for zones in zones_by_region)


def _row(instance: InstanceType) -> tuple[str, ...]:
    left = allocatable(instance, huge_pages=instance.efa_interfaces > 0)
    burst = " burst" if instance.network_burst else ""
    block = "yes" if instance.capacity_block else "-"
    return (
        instance.name,
        instance.arch,
        _accelerators(instance),
        _known(instance, "efa_interfaces"),
        str(instance.vcpus),
        str(instance.memory_mib),
        f"{left.cpu_milli}m {left.memory_mib}Mi",
        f"{instance.network_gbps:g}{burst}",
        _known(instance, "nvme_gb"),
        block,
        str(len(instance.regions) or "?"),
        _prices(instance),
    )


def _accelerators(instance: InstanceType) -> str:
    if not instance.accelerator:
        return "-"
    memory = instance.accelerator_memory_mib or "?"
    count = instance.accelerators or instance.gpu_partition
    return f"{count:g} x {instance.accelerator} {memory} MiB"


def _known(instance: InstanceType, field: str) -> str:
    if field in instance.unknown:
        return "?"
    return str(getattr(instance, field) or "-")


def _prices(instance: InstanceType) -> str:
    by_region = instance.price_usd_hour.items()
    prices = [f"{price:g} {region}" for region, price in by_region]
    return ", ".join(prices) or "?"
