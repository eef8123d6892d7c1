"""What the account must have before the cluster is made: quotas, capacity that was bought, images, file systems."""

from __future__ import annotations

from compiler.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class ServiceQuota:
    """A quota of the account, and how much of it this cluster takes."""

    service: str
    code: str
    name: str
    needed: int
    what: str


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
        return tuple(each for each, _ in self.sizes)


@dataclass(frozen=True, slots=True)
class EcrImage:
    """An image in a private ECR registry; ``pin`` is ``imageDigest=…`` or ``imageTag=…``."""

    account: str
    region: str
    repository: str
    pin: str


@dataclass(frozen=True, slots=True)
class PoolDevices:
    """What each node of a pool shows when it is in order: resources and their amounts."""

    pool: str
    nodes: int
    static: bool
    each: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Account:
    """Everything that takes time or money before the first command."""

    opt_in: bool = False
    quotas: tuple[ServiceQuota, ...] = ()
    purchases: tuple[Purchase, ...] = ()
    images: tuple[EcrImage, ...] = ()
    file_systems: tuple[str, ...] = ()
    devices: tuple[PoolDevices, ...] = ()
