"""What the account needs before the cluster is created: quotas, bought capacity, images, file systems."""

from __future__ import annotations

from dataclasses import field

from trainyard.core.storage.plan import MadeBucket, MadeFileSystem
from trainyard.language.dataclass import dataclass
from trainyard.language.places import Route
from trainyard.plan.base import ROOT


@dataclass(frozen=True, slots=True)
class ServiceQuota:
    """A quota of the account, and how much a part of this cluster takes of it. ``code``: where it is not known, the
    name with `_` for each space. ``sure``: it is established that this part counts."""

    service: str
    code: str
    name: str
    needed: int
    what: str
    sure: bool = True


@dataclass(frozen=True, slots=True)
class Purchase:
    """Reserved capacity of a pool. ``sizes`` are the nodes of each reservation; ``hours`` is how long a block lasts."""

    pool: str
    instance_type: str
    zone: str
    nodes: int
    block: bool
    sizes: tuple[tuple[str, int], ...]
    starts: str | None = None
    ends: str | None = None
    hours: int | None = None

    @property
    def ids(self) -> tuple[str, ...]:
        """The reservations."""
        return tuple(reservation for reservation, _ in self.sizes)


@dataclass(frozen=True, slots=True)
class PoolNeeds:
    """What one pool takes of the account: ``quotas`` for each node; and what a node shows when it is in order.

    ``made_by``: who starts its nodes; ``spot``: they may be Spot Instances.
    """

    pool: str
    instance_type: str
    zones: tuple[str, ...]
    nodes: int
    static: bool
    block: bool
    quotas: tuple[ServiceQuota, ...]
    devices: tuple[tuple[str, str], ...]
    purchase: Purchase | None = None
    made_by: str = ""
    spot: bool = False


@dataclass(frozen=True, slots=True)
class StorageNeeds:
    """A storage: a file system that exists, a bucket, or what the bootstrap makes. ``at``: where the spec names it.

    ``key``: the KMS key of a made bucket; ``disk``: what has EBS volumes of its own, `pod` or `namespace`;
    ``volume``: the id of an EBS volume that exists; ``quotas``: what a made file system takes.
    """

    name: str
    file_system: str | None = None
    bucket: str | None = None
    key: str | None = None
    made: MadeBucket | MadeFileSystem | None = None
    read_only: bool = False
    disk: str = ""
    volume: str = ""
    quotas: tuple[ServiceQuota, ...] = ()
    at: Route = field(default=ROOT, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Account:
    """Everything that takes time or money before the first command. ``quotas`` are those of the cluster itself."""

    opt_in: bool = False
    quotas: tuple[ServiceQuota, ...] = ()
    pools: tuple[PoolNeeds, ...] = ()
    storage: tuple[StorageNeeds, ...] = ()
