"""Node pools, as people write them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from compiler.spec.base import SpecModel
from compiler.spec.checks import fault
from compiler.spec.types import (
    Distinct,
    Duration,
    InstanceType,
    LabelValue,
    Name,
    NodeLabelKey,
    PlacementGroupName,
    ReservationId,
    RootSize,
    TaintKey,
    Timestamp,
    Zone,
)


class NodeCount(SpecModel):
    """How many nodes a pool may have. ``min`` equal to ``max`` keeps them always on (a static pool)."""

    min: int = Field(0, ge=0, description="nodes that are always on: 0, or as many as `max`")
    max: int = Field(ge=1, le=5000, description="nodes at most")

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.min > self.max:
            raise fault(f"`min` {self.min} is above `max` {self.max}", f"write `min: {self.max}` or raise `max`", "min")
        if 0 < self.min < self.max:
            # karpenter.sh/v1 NodePool: `replicas` is fixed; a dynamic pool has no minimum (v1.14.1).
            raise fault(
                f"a pool of {self.min} to {self.max} nodes: Karpenter keeps a fixed number or scales from 0",
                f"write `min: 0` to scale from zero, or `min: {self.max}` to keep all nodes on", "min",
            )
        return self


class Reservation(SpecModel):
    """One of several reservations of a pool, and how many of its nodes are in it."""

    id: ReservationId
    nodes: int = Field(ge=1, le=5000, description="instances of the reservation")


_LONGEST_BLOCK_DAYS = 182
_BLOCKS = "EC2 user guide, capacity-blocks-purchase"
_GP3 = "EBS user guide, general-purpose (gp3)"


class Capacity(SpecModel):
    """How the nodes are bought: on demand, spot, from a reservation (ODCR), or from a Capacity Block."""

    type: Literal["on-demand", "spot", "reserved", "block"]
    id: ReservationId | None = Field(None, description="the reservation, `cr-…`; for `reserved` and `block`")
    reservations: list[Reservation] = Field(
        [], description="several reservations with their nodes, instead of `id`: jobs are placed inside one "
        "where they fit"
    )
    starts: Timestamp | None = Field(None, description="when the Capacity Block starts")
    ends: Timestamp | None = Field(None, description="when the Capacity Block ends")

    @model_validator(mode="after")
    def _bound(self) -> Self:
        if self.id is not None and self.reservations:
            raise fault("both `id` and `reservations` are given",
                        "list every reservation under `reservations`, and remove `id`", "id")
        ids = self.ids
        if len(set(ids)) < len(ids):
            twice = next(each for each in ids if ids.count(each) > 1)
            raise fault(f"reservation `{twice}` is listed twice", "remove one of them", "reservations")
        if self.type in ("reserved", "block") and not ids:
            raise fault(
                f"capacity `{self.type}` without a reservation: no node would ever be launched",
                "add `id: cr-…`, the id of the capacity reservation",
            )
        if self.type in ("on-demand", "spot") and ids:
            raise fault(
                f"capacity `{self.type}` never uses reservation `{ids[0]}`",
                "write `type: reserved`, or remove the reservation", "id" if self.id else "reservations",
            )
        if self.type != "block" and (self.starts or self.ends):
            raise fault(f"capacity `{self.type}` has no start and end", "write `type: block`, or remove them",
                        "starts" if self.starts else "ends")
        if self.starts and self.ends and self.starts >= self.ends:
            raise fault(f"the block ends ({self.ends}) before it starts ({self.starts})", "swap `starts` and `ends`",
                        "ends")
        self._check_length()
        return self

    def _check_length(self) -> None:
        """EC2 user guide, Capacity Blocks: they end at 11:30 UTC, and last 182 days at most, or hours more."""
        if self.ends is not None and not self.ends.endswith("T11:30:00Z"):
            raise fault(f"the block ends at {self.ends}, and every Capacity Block ends at 11:30 UTC",
                        f"write `{self.ends.partition('T')[0]}T11:30:00Z`", "ends", source=_BLOCKS)
        if self.starts is None or self.ends is None:
            return
        days = (datetime.fromisoformat(self.ends) - datetime.fromisoformat(self.starts)).total_seconds() / 86400
        if days >= _LONGEST_BLOCK_DAYS + 1:
            raise fault(f"the block lasts {days:.0f} days, and a Capacity Block at most {_LONGEST_BLOCK_DAYS}",
                        "write the StartDate and EndDate that `aws ec2 describe-capacity-reservations` shows", "ends",
                        source=_BLOCKS)

    @property
    def ids(self) -> tuple[str, ...]:
        """All reservations, however they were given."""
        return (self.id,) if self.id is not None else tuple(each.id for each in self.reservations)


class Volume(SpecModel):
    """The root volume of a node (gp3)."""

    size: RootSize
    iops: int | None = Field(None, ge=3000, le=80000, description="derived by EC2: 3000")
    throughput: int | None = Field(None, ge=125, le=2000, description="MiB/s; derived by EC2: 125")

    @model_validator(mode="after")
    def _in_proportion(self) -> Self:
        # EBS user guide, general purpose volumes (gp3): at most 500 IOPS a GiB, at most 0.25 MiB/s an IOPS.
        gib, iops = self.size.value // 1024**3, self.iops or 3000
        if iops > 500 * gib:
            raise fault(f"{iops} IOPS of a volume of {self.size}: gp3 has at most 500 a GiB",
                        f"write at most `iops: {500 * gib}`, or `size: {-(-iops // 500)}Gi`", "iops",
                        source=_GP3)
        if self.throughput is not None and 4 * self.throughput > iops:
            raise fault(f"{self.throughput} MiB/s with {iops} IOPS: gp3 has at most a quarter of a MiB/s for each",
                        f"write `iops: {4 * self.throughput}`, or at most `throughput: {iops // 4}`", "throughput",
                        source=_GP3)
        return self


class Taint(SpecModel):
    """A taint beside the one for accelerators."""

    key: TaintKey
    value: LabelValue = ""
    effect: Literal["NoSchedule", "NoExecute", "PreferNoSchedule"] = "NoSchedule"


class NodePool(SpecModel):
    """Nodes of one instance type, in one zone (or, for pools without EFA, in several)."""

    name: Name
    instance_type: InstanceType = Field(description="EC2 instance type, like `p5.48xlarge`")
    zone: Zone | None = Field(None, description="derived where the type exists in one zone of the network only")
    zones: Annotated[list[Zone], Distinct] = Field(
        [], description="several zones, instead of `zone`: for jobs of a single node"
    )
    nodes: NodeCount
    capacity: Capacity = Capacity(type="on-demand")
    placement: Literal["cluster", "partition", "spread", "none"] | None = Field(
        None, description="placement group; derived: `cluster` for several nodes with EFA, none in reserved capacity"
    )
    placement_group: PlacementGroupName | None = Field(
        None, description="a placement group that exists, like the one of a reservation; instead of `placement`"
    )
    efa: bool | None = Field(None, description="whether nodes get their EFA devices; derived: yes, if the type has any")
    root_volume: Volume | None = None
    local_storage: Literal["raid0", "none"] | None = Field(None, description="what to do with NVMe disks")
    labels: dict[NodeLabelKey, LabelValue] = {}
    taints: list[Taint] = []
    topology: Literal["network", "none"] = Field(
        "none", description="`network`: Kueue places gangs by EC2 network topology (nodes must always be on)"
    )
    consolidate_after: Duration | None = Field(None, description="how long a node stays empty before it goes; derived")

    @model_validator(mode="after")
    def _as_many_as_reserved(self) -> Self:
        reserved, most = sum(each.nodes for each in self.capacity.reservations), self.nodes.max
        if self.capacity.reservations and reserved != most:
            raise fault(f"the reservations have {reserved} nodes, and the pool {most}",
                        f"write `max: {reserved}`, or the nodes that each reservation has", "nodes")
        return self

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if self.zone is not None and self.zones:
            raise fault("both `zone` and `zones` are given", "keep one of them; EFA needs a single zone", "zones")
        if self.placement is not None and self.placement_group is not None:
            raise fault(f"placement group `{self.placement_group}` exists, and `placement: {self.placement}` makes "
                        "another", "keep one of them", "placement")
        return self
