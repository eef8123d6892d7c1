"""The instance type: what EC2 says about a machine, in the terms that Kubernetes and EFA need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from trainyard.language.dataclass import dataclass

NVIDIA_RESOURCE = "nvidia.com/gpu"
NEURON_RESOURCE = "aws.amazon.com/neuron"

Row = Mapping[str, Any]
"""One entry of ``data/instances.json``; what is absent has its default (see ``instance_from_row``)."""


@dataclass(frozen=True, slots=True)
class NetworkCard:
    """A network card: its index, and how many interfaces of which types it takes.

    ``types`` are EC2's: ``interface``, ``efa`` (an IP interface with EFA), ``efa-only`` (EFA without IP).
    """

    index: int
    max_interfaces: int
    types: tuple[str, ...]

    @property
    def efa(self) -> bool:
        """Whether an EFA interface can be attached to the card."""
        return "efa-only" in self.types or "efa" in self.types


@dataclass(frozen=True, slots=True)
class InstanceType:
    """One EC2 instance type. Memory is in MiB, bandwidth in Gbit/s, NVMe in GB (10^9), price in USD an hour.

    ``unknown`` names the fields that no source establishes: their value is an empty placeholder, and a
    check that needs one must stay silent or ask. ``gpus`` is EC2's ``Count``, which Karpenter counts too: 0
    for a slice of a GPU (g6f, gr6f), whose size is ``gpu_partition``. ``accelerators`` is GPUs or Neuron
    devices. ``accelerator_memory_mib`` is for one accelerator. ``neuron_cores`` are physical, of which ``neuron_lnc``
    make a logical one by default. ``zones`` maps a region to the zones that offer the type; {} is unknown, and
    so is a region that is not in ``Catalog.regions`` or has no zones there.
    """

    name: str
    family: str
    size: str
    arch: str
    vcpus: int
    threads_per_core: int
    memory_mib: int
    bare_metal: bool
    gpus: int
    gpu_partition: float
    accelerator: str | None
    accelerator_memory_mib: int
    accelerator_resource: str | None
    accelerators: int
    neuron_cores: int
    neuron_lnc: int
    efa_interfaces: int
    efa_cards: tuple[int, ...]
    network_cards: tuple[NetworkCard, ...]
    ipv4_per_interface: int
    network_gbps: float
    network_burst: bool
    gpudirect_rdma: bool
    nvlink: str | None
    nvlink_gb_s: int
    amx: bool
    nvme_gb: int
    nvme_disks: int
    placement_strategies: tuple[str, ...]
    usage_classes: tuple[str, ...]
    zones: Mapping[str, tuple[str, ...]]
    price_usd_hour: Mapping[str, float]
    unknown: frozenset[str]

    def usd_hour(self, region: str) -> float | None:
        """USD an hour on demand; that of us-east-1 where the Region's own is not known."""
        own = self.price_usd_hour.get(region)
        if own is not None:
            return own
        return self.price_usd_hour.get("us-east-1")

    def booted(self, threads: int | None) -> InstanceType:
        """The type as it is with so many threads a core, where that is chosen (EC2 user guide, cpu-options)."""
        if threads is None or threads >= self.threads_per_core:
            return self
        vcpus = self.vcpus * threads // self.threads_per_core
        return replace(self, vcpus=vcpus, threads_per_core=threads)

    @property
    def regions(self) -> tuple[str, ...]:
        """The regions that offer the type; () is unknown."""
        return tuple(self.zones)

    @property
    def capacity_block(self) -> bool:
        """Whether the type can be bought in a Capacity Block."""
        return "capacity-block" in self.usage_classes

    @property
    def spot(self) -> bool:
        return "spot" in self.usage_classes

    @property
    def cluster_placement(self) -> bool:
        """Whether a cluster placement group takes the type."""
        return "cluster" in self.placement_strategies

    def efa_layout(self) -> tuple[tuple[int, int, str], ...]:
        """All interfaces as (networkCardIndex, deviceIndex, interfaceType), every EFA of the type used.

        EC2's rule (EC2 user guide, efa-acc-inst-types): card 0 device 0 is the primary and must be
        ``interface``; an EFA on card 0 is its device 1, an EFA on any other card is that card's device 0.
        A type whose cards are unknown has no layout: ().
        """
        if not self.network_cards:
            return ()
        interfaces = [(0, 0, "interface")]
        for card in self.efa_cards[: self.efa_interfaces]:
            device = 1 if card == 0 else 0
            interfaces.append((card, device, "efa-only"))
        return tuple(interfaces)


def expand_zones(letters: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """The names of zones by region from their letters: ``{"us-east-1": "abf"}``."""
    zones: dict[str, tuple[str, ...]] = {}
    for region, written in letters.items():
        names = [region + letter for letter in written]
        zones[region] = tuple(names)
    return zones


def zone_letters(text: str) -> dict[str, str]:
    """The letters of zones by region from the compact form ``us-east-1:abf us-west-2:a``."""
    pairs = [part.partition(":") for part in text.split()]
    return {region: letters for region, _, letters in pairs}


def _cards(row: Row) -> tuple[NetworkCard, ...]:
    # [first, last, interfaces, types]: equal neighbours are one run, since p5.48xlarge has 32 alike.
    return tuple(
        NetworkCard(index, count, tuple(types.split()))
        for first, last, count, types in row.get("cards", ())
        for index in range(first, last + 1)
    )


def _accelerator(row: Row) -> tuple[str | None, int]:
    if row.get("gpus"):
        return NVIDIA_RESOURCE, row["gpus"]
    if row.get("neuron"):
        return NEURON_RESOURCE, row["neuron"]
    return None, 0


def instance_from_row(name: str, row: Row) -> InstanceType:
    """Build an instance type from its entry in the data file. Raises ``KeyError``, ``TypeError`` or ``ValueError``."""
    get = row.get
    cards = _cards(row)
    resource, accelerators = _accelerator(row)
    family, _, size = name.partition(".")
    nvme_gb, nvme_disks = get("nvme", (0, 0))
    efa_cards = [card.index for card in cards if card.efa]
    return InstanceType(
        name=name,
        family=family,
        size=size,
        arch=get("arch", "amd64"),
        vcpus=row["vcpus"],
        threads_per_core=get("threads", 2),
        memory_mib=row["memory_mib"],
        bare_metal=get("bare_metal", False),
        gpus=get("gpus", 0),
        gpu_partition=get("gpu_partition", 1.0),
        accelerator=get("accelerator"),
        accelerator_memory_mib=get("accelerator_memory_mib", 0),
        accelerator_resource=resource,
        accelerators=accelerators,
        neuron_cores=get("neuron_cores", 0),
        neuron_lnc=get("neuron_lnc", 1),
        efa_interfaces=get("efa", 0),
        efa_cards=tuple(efa_cards) if get("efa") else (),
        network_cards=cards,
        ipv4_per_interface=get("ipv4", 0),
        network_gbps=get("gbps", 0.0),
        network_burst=get("burst", False),
        gpudirect_rdma=get("gpudirect_rdma", False),
        nvlink=get("nvlink"),
        nvlink_gb_s=get("nvlink_gb_s", 0),
        amx=get("amx", False),
        nvme_gb=nvme_gb,
        nvme_disks=nvme_disks,
        placement_strategies=tuple(get("placement", "").split()),
        usage_classes=tuple(get("usage", "").split()),
        zones=expand_zones(zone_letters(get("zones", ""))),
        price_usd_hour=get("usd", {}),
        unknown=frozenset(get("unknown", ())),
    )
