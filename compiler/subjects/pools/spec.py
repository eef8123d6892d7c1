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

    min: int = Field(
        0,
        ge=0,
        description="The nodes that are always on: 0 to scale from nothing, or as many as `max`.",
        examples=[8],
    )
    max: int = Field(
        ge=1,
        le=5000,
        description="The most nodes that the pool may have.",
        examples=[8],
    )

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.min > self.max:
            raise fault(
                f"`min` {self.min} is above `max` {self.max}",
                f"write `min: {self.max}` or raise `max`",
                "min",
            )
        if 0 < self.min < self.max:
            # karpenter.sh/v1 NodePool: `replicas` is fixed; a dynamic pool has no minimum (v1.14.1).
            raise fault(
                f"a pool of {self.min} to {self.max} nodes: Karpenter keeps a fixed number or scales from 0",
                f"write `min: 0` to scale from zero, or `min: {self.max}` to keep all nodes on",
                "min",
            )
        return self


class Reservation(SpecModel):
    """One of several reservations of a pool, and how many of its nodes are in it."""

    id: ReservationId = Field(
        description="The id of the capacity reservation.",
        examples=["cr-0a1b2c3d4e5f60718"],
    )
    nodes: int = Field(
        ge=1,
        le=5000,
        description="The number of instances in the reservation; together they are the pool's `max`.",
        examples=[4],
    )


_LONGEST_BLOCK_DAYS = 182
_BLOCKS = "EC2 user guide, capacity-blocks-purchase"
_GP3 = "EBS user guide, general-purpose (gp3)"


class Capacity(SpecModel):
    """How the nodes are bought: on demand, spot, from a reservation (ODCR), or from a Capacity Block."""

    type: Literal["on-demand", "spot", "reserved", "block"] = Field(
        description="How the nodes are bought: `on-demand`, `spot`, `reserved` (from a reservation) or `block` (a "
        "Capacity Block).",
        examples=["reserved"],
    )
    id: ReservationId | None = Field(
        None,
        description="The id of the reservation or Capacity Block, for `reserved` and `block`.",
        examples=["cr-0a1b2c3d4e5f60718"],
    )
    reservations: list[Reservation] = Field(
        [],
        description="Several reservations with their nodes, instead of `id`; a job is kept inside one of them where "
        "it fits.",
        examples=[
            [
                {"id": "cr-0a1b2c3d4e5f60718", "nodes": 4},
                {"id": "cr-0a1b2c3d4e5f60719", "nodes": 4},
            ]
        ],
    )
    starts: Timestamp | None = Field(
        None,
        description="When the Capacity Block starts, with its time zone.",
        examples=["2026-12-01T11:30:00Z"],
    )
    ends: Timestamp | None = Field(
        None,
        description="When the Capacity Block ends, at 11:30 UTC; its jobs are stopped 40 minutes before.",
        examples=["2026-12-15T11:30:00Z"],
    )

    @model_validator(mode="after")
    def _bound(self) -> Self:
        if self.id is not None and self.reservations:
            raise fault(
                "both `id` and `reservations` are given",
                "list every reservation under `reservations`, and remove `id`",
                "id",
            )
        ids = self.ids
        if len(set(ids)) < len(ids):
            twice = next(each for each in ids if ids.count(each) > 1)
            raise fault(
                f"reservation `{twice}` is listed twice",
                "remove one of them",
                "reservations",
            )
        if self.type in ("reserved", "block") and not ids:
            raise fault(
                f"capacity `{self.type}` without a reservation: no node would ever be launched",
                "add `id: cr-…`, the id of the capacity reservation",
            )
        if self.type in ("on-demand", "spot") and ids:
            raise fault(
                f"capacity `{self.type}` never uses reservation `{ids[0]}`",
                "write `type: reserved`, or remove the reservation",
                "id" if self.id else "reservations",
            )
        if self.type != "block" and (self.starts or self.ends):
            raise fault(
                f"capacity `{self.type}` has no start and end",
                "write `type: block`, or remove them",
                "starts" if self.starts else "ends",
            )
        if self.starts and self.ends and self.starts >= self.ends:
            raise fault(
                f"the block ends ({self.ends}) before it starts ({self.starts})",
                "swap `starts` and `ends`",
                "ends",
            )
        self._check_length()
        return self

    def _check_length(self) -> None:
        """EC2 user guide, Capacity Blocks: they end at 11:30 UTC, and last 182 days at most, or hours more."""
        if self.ends is not None and not self.ends.endswith("T11:30:00Z"):
            raise fault(
                f"the block ends at {self.ends}, and every Capacity Block ends at 11:30 UTC",
                f"write `{self.ends.partition('T')[0]}T11:30:00Z`",
                "ends",
                source=_BLOCKS,
            )
        if self.starts is None or self.ends is None:
            return
        days = (
            datetime.fromisoformat(self.ends) - datetime.fromisoformat(self.starts)
        ).total_seconds() / 86400
        if days >= _LONGEST_BLOCK_DAYS + 1:
            raise fault(
                f"the block lasts {days:.0f} days, and a Capacity Block at most {_LONGEST_BLOCK_DAYS}",
                "write the StartDate and EndDate that `aws ec2 describe-capacity-reservations` shows",
                "ends",
                source=_BLOCKS,
            )

    @property
    def ids(self) -> tuple[str, ...]:
        """All reservations, however they were given."""
        return (
            (self.id,)
            if self.id is not None
            else tuple(each.id for each in self.reservations)
        )


class Volume(SpecModel):
    """The root volume of a node (gp3)."""

    size: RootSize = Field(
        description="The size of the root volume; without `rootVolume` it is 100Gi on nodes whose NVMe disks are "
        "used, otherwise 300Gi.",
        examples=["500Gi"],
    )
    iops: int | None = Field(
        None,
        ge=3000,
        le=80000,
        description="Input and output operations a second; unset: 3000, as EC2 gives.",
        examples=[6000],
    )
    throughput: int | None = Field(
        None,
        ge=125,
        le=2000,
        description="Throughput in MiB/s; unset: 125, as EC2 gives.",
        examples=[500],
    )

    @model_validator(mode="after")
    def _in_proportion(self) -> Self:
        # EBS user guide, general purpose volumes (gp3): at most 500 IOPS a GiB, at most 0.25 MiB/s an IOPS.
        gib, iops = self.size.value // 1024**3, self.iops or 3000
        if iops > 500 * gib:
            raise fault(
                f"{iops} IOPS of a volume of {self.size}: gp3 has at most 500 a GiB",
                f"write at most `iops: {500 * gib}`, or `size: {-(-iops // 500)}Gi`",
                "iops",
                source=_GP3,
            )
        if self.throughput is not None and 4 * self.throughput > iops:
            raise fault(
                f"{self.throughput} MiB/s with {iops} IOPS: gp3 has at most a quarter of a MiB/s for each",
                f"write `iops: {4 * self.throughput}`, or at most `throughput: {iops // 4}`",
                "throughput",
                source=_GP3,
            )
        return self


class Taint(SpecModel):
    """A taint beside the one for accelerators."""

    key: TaintKey = Field(description="The taint's key.", examples=["example.com/team"])
    value: LabelValue = Field(
        "", description="The taint's value; unset: empty.", examples=["research"]
    )
    effect: Literal["NoSchedule", "NoExecute", "PreferNoSchedule"] = Field(
        "NoSchedule",
        description="What happens to pods that do not tolerate the taint.",
        examples=["NoSchedule"],
    )


class NodePool(SpecModel):
    """Nodes of one instance type, in one zone (or, for pools without EFA, in several)."""

    name: Name = Field(
        description="The pool's name, which queues and jobs refer to.",
        examples=["h100"],
    )
    instance_type: InstanceType = Field(
        description="The EC2 instance type of every node of the pool.",
        examples=["p5.48xlarge"],
    )
    zone: Zone | None = Field(
        None,
        description="The zone of the nodes; derived where only one zone of the network offers the type.",
        examples=["us-west-2a"],
    )
    zones: Annotated[list[Zone], Distinct] = Field(
        [],
        description="Several zones, instead of `zone`, for jobs of a single node: EFA never leaves a zone.",
        examples=[["us-west-2a", "us-west-2b"]],
    )
    nodes: NodeCount = Field(
        description="How many nodes the pool may have.", examples=[{"max": 8}]
    )
    capacity: Capacity = Field(
        Capacity(type="on-demand"),
        description="How the nodes are bought.",
        examples=[{"type": "reserved", "id": "cr-0a1b2c3d4e5f60718"}],
    )
    placement: Literal["cluster", "partition", "spread", "none"] | None = Field(
        None,
        description="The strategy of a new placement group; derived: `cluster` for several nodes with EFA, `none` for "
        "reserved capacity.",
        examples=["cluster"],
    )
    placement_group: PlacementGroupName | None = Field(
        None,
        description="The name of a placement group that exists, instead of `placement`.",
        examples=["research-h100"],
    )
    efa: bool | None = Field(
        None,
        description="Whether nodes get their EFA devices; derived: yes where the type has any.",
        examples=[False],
    )
    root_volume: Volume | None = Field(
        None,
        description="The root volume of each node, of type gp3.",
        examples=[{"size": "500Gi"}],
    )
    local_storage: Literal["raid0", "none"] | None = Field(
        None,
        description="What NVMe disks are used for: `raid0` puts images and `/tmp` on them; derived: `raid0` where "
        "there are any.",
        examples=["raid0"],
    )
    labels: dict[NodeLabelKey, LabelValue] = Field(
        {},
        description="Kubernetes labels of the nodes, beside those that Karpenter sets.",
        examples=[{"example.com/team": "research"}],
    )
    taints: list[Taint] = Field(
        [],
        description="Taints of the nodes, beside the one that keeps other pods off accelerators; jobs of the pool "
        "tolerate them.",
        examples=[[{"key": "example.com/team", "value": "research"}]],
    )
    topology: Literal["network", "none"] = Field(
        "none",
        description="With `network`, Kueue places a job's pods close together in EC2's network; all nodes must be "
        "always on.",
        examples=["network"],
    )
    consolidate_after: Duration | None = Field(
        None,
        description="How long a node stays when it is empty; derived: `15m`, or `0s` where all nodes are always on.",
        examples=["30m"],
    )

    @model_validator(mode="after")
    def _as_many_as_reserved(self) -> Self:
        reserved, most = (
            sum(each.nodes for each in self.capacity.reservations),
            self.nodes.max,
        )
        if self.capacity.reservations and reserved != most:
            raise fault(
                f"the reservations have {reserved} nodes, and the pool {most}",
                f"write `max: {reserved}`, or the nodes that each reservation has",
                "nodes",
            )
        return self

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if self.zone is not None and self.zones:
            raise fault(
                "both `zone` and `zones` are given",
                "keep one of them; EFA needs a single zone",
                "zones",
            )
        if self.placement is not None and self.placement_group is not None:
            raise fault(
                f"placement group `{self.placement_group}` exists, and `placement: {self.placement}` makes "
                "another",
                "keep one of them",
                "placement",
            )
        return self
