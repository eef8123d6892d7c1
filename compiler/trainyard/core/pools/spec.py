"""The spec of node pools."""

from typing import Annotated, Any, Literal, Self, get_args

from pydantic import AfterValidator, BeforeValidator, model_validator

from trainyard.core.pools.keys import (
    Block,
    BurnIn,
    ManagedNodeGroup,
    Reservation,
    Reserved,
    Sharing,
    Taint,
)
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.diagnostics.words import kind_of
from trainyard.language.models.aws import InstanceType, PlacementGroupName, Zone
from trainyard.language.models.base import SpecModel
from trainyard.language.models.checks import fault
from trainyard.language.models.choice import OneOf, as_list
from trainyard.language.models.field import Field
from trainyard.language.models.section import Section
from trainyard.language.models.types import (
    MOST_NODES,
    Distinct,
    FailureInterval,
    IdleTime,
    LabelValue,
    Name,
    NodeLabelKey,
    RootSize,
)

_Count = Annotated[int, Field(ge=1, le=MOST_NODES)]


class NodeCount(SpecModel):
    """How many nodes a pool may have: from ``min`` to ``max``. A number alone is both: a pool that is always on."""

    min: int = Field(
        0,
        ge=0,
        description="The nodes that are always on: 0 to scale from nothing, or as many as `max`; on ParallelCluster "
        "any number between, too.",
        examples=[8],
        bound="0, or as many as `max`; on ParallelCluster any number up to `max`",
        source="karpenter.sh/v1 NodePool replicas, v1.14.1; aws-parallelcluster 3.16.1, `MinCount`",
        codes=("SPC005", "RES348", "RES190"),
    )
    max: int = Field(
        ge=1,
        le=MOST_NODES,
        description="The most nodes that the pool may have.",
        examples=[8],
        bound="1 to 5000; as many as the reservations have",
        source="Kubernetes, large clusters: 5000 nodes",
        codes=("SPC005", "PLC016"),
    )

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.min > self.max:
            raise fault(
                f"`min` {self.min} is above `max` {self.max}",
                f"write `min: {self.max}` or raise `max`",
                "min",
            )
        return self


def _as_range(value: Any) -> Any:
    """A number of nodes is exactly so many."""
    if isinstance(value, str) and value.strip().isdecimal():
        raise fault("`nodes` is text", f"write `{int(value)}` without quotes")
    if type(value) is not int:
        return value
    if not 1 <= value <= MOST_NODES:
        raise fault(
            f"`nodes` is {value}, not between 1 and {MOST_NODES}",
            "write how many nodes are always on, or `{max: 8}` to scale from zero",
        )
    return {"min": value, "max": value}


Nodes = Annotated[NodeCount, BeforeValidator(_as_range, json_schema_input_type=_Count | NodeCount)]


_GP3 = "EBS user guide, general-purpose (gp3)"


class OnDemand(SpecModel):
    """Nodes bought by the hour."""


class Spot(SpecModel):
    """Spare capacity, which EC2 takes back at two minutes' notice."""


class Capacity(OneOf):
    """How nodes are bought."""

    on_demand: OnDemand | None = Field(
        None, description="By the hour, as they are launched.", examples=[{}]
    )
    spot: Spot | None = Field(
        None,
        description="As spare capacity, which EC2 takes back at two minutes' notice.",
        examples=[{}],
    )
    reserved: Reserved | None = Field(
        None,
        description="From On-Demand Capacity Reservations (ODCR), and never outside of them.",
        examples=[{"reservations": [{"id": "cr-0a1b2c3d4e5f60718"}]}],
    )
    block: Block | None = Field(
        None,
        description="From Capacity Blocks, which start and end at a time.",
        examples=[
            {"reservations": [{"id": "cr-0a1b2c3d4e5f60718"}], "ends": "2026-12-15T11:30:00Z"}
        ],
    )

    @property
    def reservations(self) -> tuple[Reservation, ...]:
        """The reservations that the nodes come from."""
        bought = self.reserved or self.block
        if bought:
            return tuple(bought.reservations)
        return ()


def _in_order(capacity: list[Capacity]) -> list[Capacity]:
    """Karpenter launches reserved capacity first, then spot, then on demand (v1.14.1, concepts/nodepools)."""
    kinds = [one.chosen for one in capacity]
    if len(kinds) > 1 and "block" in kinds:
        raise fault(
            "a Capacity Block together with other capacity",
            "make the block a pool of its own: its nodes end together",
        )
    wanted = [kind for kind in _ORDER if kind in kinds]
    if len(kinds) > 1 and kinds != wanted:
        raise fault(
            f"capacity in the order {listed(kinds)}",
            f"write each once, as they are tried: {listed(wanted)}",
            source="Karpenter documentation, concepts/nodepools, karpenter.sh/capacity-type",
        )
    first = capacity[0]
    several = len(first.reservations) > 1
    if several and len(kinds) > 1:
        raise fault(
            "several reservations together with other capacity",
            "keep one reservation, or make a pool of its own for the rest",
        )
    return capacity


_ORDER = ("reserved", "spot", "onDemand")
_SeveralWays = Annotated[list[Capacity], Field(min_length=1)]
Capacities = Annotated[
    list[Capacity],
    Field(min_length=1),
    BeforeValidator(as_list, json_schema_input_type=Capacity | _SeveralWays),
    AfterValidator(_in_order),
]


def in_words(capacity_type: str) -> str:
    """How nodes are bought, as EC2 and Karpenter call it."""
    return "on-demand" if capacity_type == "onDemand" else capacity_type


class PlacementGroup(SpecModel):
    """A placement group that exists."""

    group: PlacementGroupName = Field(
        description="The name of a placement group that exists.",
        examples=["research-h100"],
        bound="instead of a strategy that the type takes (`spread`: 7 nodes a zone), a group of 1 to 255 ASCII "
        "characters; neither with a block",
        source="EC2 CreatePlacementGroup GroupName; EC2 user guide, placement-strategies",
        codes=("RES040", "PLC006", "PLC007", "PLC008"),
    )


Strategy = Literal["cluster", "partition", "spread", "none"]
_STRATEGIES = get_args(Strategy)


def _known_placement(value: Any) -> Any:
    """A word is the strategy of a new placement group."""
    if isinstance(value, dict) and "group" in value:
        return value
    if value in _STRATEGIES:
        return value
    if isinstance(value, str):
        shown = f"`{value}`"
    else:
        shown = kind_of(value)
    raise fault(
        f"`placement` is {shown}",
        f"write one of {listed(_STRATEGIES)}, or `{{group: NAME}}` for a placement group that exists",
    )


Placement = Annotated[
    Strategy | PlacementGroup,
    BeforeValidator(_known_placement, json_schema_input_type=Strategy | PlacementGroup),
]


class Volume(SpecModel):
    """The root volume of a node (gp3)."""

    size: RootSize = Field(
        description="The size of the root volume; without `rootVolume` it is 100Gi on nodes of EKS whose NVMe disks "
        "are used, otherwise 300Gi, and 200Gi on a head node.",
        examples=["500Gi"],
        bound="20Gi, the size of the image, to 64Ti; of a head node 45Gi to 16Ti, in whole GiB",
        source="awslabs/amazon-eks-ami 81fec2e templates/al2023/variables-default.json; EC2 API EbsBlockDevice "
        "VolumeSize (botocore 1.44.5); EBS user guide, general-purpose volumes; aws-parallelcluster "
        "3.16.1, RootVolumeSizeValidator",
        codes=("LIM039", "RES390"),
    )
    iops: int | None = Field(
        None,
        ge=3000,
        le=80000,
        description="Input and output operations a second; unset: 3000, as EC2 gives.",
        examples=[6000],
        bound="3000 to 80000, at most 500 a GiB; of a head node 3000 to 16000",
        source="EC2 API EbsBlockDevice Iops (botocore 1.44.5); EBS user guide, general-purpose "
        "volumes; aws-parallelcluster 3.16.1, EbsVolumeIopsValidator",
        codes=("SPC005", "RES390"),
    )
    throughput: int | None = Field(
        None,
        ge=125,
        le=2000,
        description="Throughput in MiB/s; unset: 125, as EC2 gives.",
        examples=[500],
        bound="125 to 2000 MiB/s, at most a quarter for each IOPS; of a head node 125 to 1000",
        source="EC2 API EbsBlockDevice Throughput (botocore 1.44.5); EBS user guide, "
        "general-purpose volumes; aws-parallelcluster 3.16.1, EbsVolumeThroughputValidator",
        codes=("SPC005", "RES390"),
    )

    @model_validator(mode="after")
    def _in_proportion(self) -> Self:
        # EBS user guide, general purpose volumes (gp3): at most 500 IOPS a GiB, at most 0.25 MiB/s an IOPS.
        gib = self.size.value // 1024**3
        iops = self.iops or 3000
        if iops > 500 * gib:
            raise fault(
                f"{iops} IOPS of a volume of {self.size}: gp3 has at most 500 a GiB",
                f"write at most `iops: {500 * gib}`, or `size: {-(-iops // 500)}Gi`",
                "iops",
                source=_GP3,
            )
        throughput = self.throughput
        if throughput is not None and 4 * throughput > iops:
            raise fault(
                f"{throughput} MiB/s with {iops} IOPS: gp3 has at most a quarter of a MiB/s for each",
                f"write `iops: {4 * throughput}`, or at most `throughput: {iops // 4}`",
                "throughput",
                source=_GP3,
            )
        return self


class NodePool(SpecModel):
    """Nodes that jobs may use in each other's place: of one instance type and in one zone, where they talk over EFA."""

    name: Name = Field(
        description="The pool's name, which queues and jobs refer to.",
        examples=["h100"],
        bound="a label of 63 characters at most, unique",
        source="karpenter.sh/v1 NodePool; it is a label's value",
        codes=("RES009",),
    )
    extends: Name | None = Field(
        None,
        description="Another pool of this spec that gives all that this one leaves out but `name`.",
        examples=["h100"],
        bound="the name of another pool of the spec, not in a circle",
        source="this language",
        codes=("YML060", "YML061"),
    )
    instance_types: Annotated[list[InstanceType], Distinct] = Field(
        min_length=1,
        description="The EC2 instance types of the nodes; several of them, with as many accelerators each, for jobs "
        "that do not talk over EFA.",
        examples=[["p5.48xlarge"]],
        bound="types of the catalog, each once, offered in the Region, with whole GPUs and room for jobs; "
        "several have the same accelerators and architecture",
        source="EC2 DescribeInstanceTypes, DescribeInstanceTypeOfferings",
        codes=("RES005", "RES008", "RES019", "RES032", "RES033", "RES051"),
    )
    zones: Annotated[list[Zone], Distinct] = Field(
        [],
        description="The zones of the nodes, one for EFA, which never leaves a zone; derived where only one zone of "
        "the network offers the type.",
        examples=[["us-west-2a"]],
        bound="zones of the Region, each once, that offer the types and have a subnet; one with EFA, and with "
        "one reservation",
        source="EC2 DescribeInstanceTypeOfferings; EC2 user guide, EFA; EC2 API CapacityReservation",
        codes=("RES004", "RES006", "RES008", "RES010", "PLC003", "RES039"),
    )
    nodes: Nodes = Field(
        description="How many nodes the pool has: a number is exactly so many, always on; `{max: 8}` scales from "
        "zero.",
        examples=[4, {"max": 8}],
    )
    spare_nodes: int = Field(
        0,
        ge=0,
        description="How many of the nodes no quota counts, so that a job that loses a node goes on without waiting "
        "for its repair.",
        examples=[2],
        bound="fewer than the nodes; what the quotas leave",
        source="Kueue, ClusterQueue nominalQuota",
        codes=("SPC005", "RES160"),
    )
    capacity: Capacities = Field(
        default_factory=lambda: [Capacity.model_construct(on_demand=OnDemand())],
        description="How the nodes are bought; several ways are a list, in the order in which they are tried.",
        examples=[
            {"reserved": {"reservations": [{"id": "cr-0a1b2c3d4e5f60718"}]}},
            [{"spot": {}}, {"onDemand": {}}],
        ],
    )
    burn_in: BurnIn | None = Field(
        None,
        description="Whether new nodes are tested before any job lands on them: all GPUs together, and EFA's "
        "interfaces; unset: they are not.",
        examples=[{}],
    )
    gpu_sharing: Sharing | None = Field(
        None,
        description="How several small jobs share each GPU; unset: a job has whole GPUs.",
        examples=[{"mig": {"profile": "1g.10gb"}}, {"timeSlicing": {"replicas": 4}}],
    )
    managed_node_group: ManagedNodeGroup | None = Field(
        None,
        description="Whether the nodes are those of a managed node group of EKS, made by eksctl and always on; unset: "
        "Karpenter launches them.",
        examples=[{}],
    )
    placement: Placement | None = Field(
        None,
        description="The strategy of a new placement group, or `{group: NAME}` of one that exists; derived: `cluster` "
        "for several nodes with EFA, `none` for reserved capacity.",
        examples=["cluster", {"group": "research-h100"}],
    )
    efa: bool | None = Field(
        None,
        description="Whether nodes get their EFA devices; derived: yes where the type has any.",
        examples=[False],
        bound="`true` only where the type has EFA",
        source="EC2 DescribeInstanceTypes EfaInfo",
        codes=("RES007",),
    )
    root_volume: Volume | None = Field(
        None, description="The root volume of each node, of type gp3.", examples=[{"size": "500Gi"}]
    )
    local_storage: Literal["raid0", "none"] | None = Field(
        None,
        description="What NVMe disks are used for: `raid0` puts images and `/tmp` on them; derived: `raid0` where "
        "there are any.",
        examples=["raid0"],
        bound="`raid0`, `none`; `raid0` only where there are NVMe disks",
        source="EC2 DescribeInstanceTypes InstanceStorageInfo",
        codes=("RES041",),
    )
    labels: dict[NodeLabelKey, LabelValue] = Field(
        {},
        description="Kubernetes labels of the nodes, in addition to those that Karpenter sets.",
        examples=[{"example.com/team": "research"}],
        bound="keys and values of Kubernetes' form; none that a node has of itself, or that Karpenter or "
        "Trainyard sets",
        source="Kubernetes, labels; karpenter.sh/v1 NodePool v1.14.1",
    )
    taints: list[Taint] = Field(
        [],
        description="Taints of the nodes, in addition to the one that keeps other pods off accelerators; jobs of the "
        "pool tolerate them.",
        examples=[[{"key": "example.com/team", "value": "research"}]],
    )
    topology: Literal["network", "none"] = Field(
        "none",
        description="With `network`, Kueue places a job's pods close together in EC2's network; all nodes must be "
        "always on.",
        examples=["network"],
        bound="`network`, `none`; `network` wants nodes that are always on",
        source="Kueue, topology-aware scheduling",
        codes=("QUE007",),
    )
    mean_time_between_failures: FailureInterval | None = Field(
        None,
        description="The time between two failures of one node, by which the interval of checkpoints is judged; "
        "derived: 50677h of a GPU.",
        examples=["6335h"],
        bound="1h to ten years, of one node",
        source="arXiv:2407.21783, section 3.3.4",
    )
    consolidate_after: IdleTime | None = Field(
        None,
        description="How long a node stays when it is empty; derived: `15m`, or `0s` where all nodes are always on.",
        examples=["30m"],
        bound="0s to 168h: longer than that nodes are always on",
        source="karpenter.sh/v1 NodePool consolidateAfter; this language",
    )

    @model_validator(mode="after")
    def _some_not_spare(self) -> Self:
        if self.spare_nodes >= self.nodes.max:
            raise fault(
                f"{self.spare_nodes} of {self.nodes.max} nodes are spare, and none is left for jobs",
                f"write `{self.nodes.max - 1}` at most, or raise `nodes`",
                "spareNodes",
            )
        return self

    @model_validator(mode="after")
    def _as_many_as_reserved(self) -> Self:
        reservations = self.reservations
        if len(self.capacity) > 1:
            return self
        if any(one.nodes is None for one in reservations):
            return self
        reserved = sum(one.nodes or 0 for one in reservations)
        if reservations and reserved != self.nodes.max:
            raise fault(
                f"the reservations have {reserved} nodes, and the pool {self.nodes.max}",
                f"write `{reserved}` nodes, or the nodes that each reservation has",
                "nodes",
            )
        return self

    @property
    def reservations(self) -> tuple[Reservation, ...]:
        """The reservations that the nodes come from, the blocks too."""
        return self.capacity[0].reservations

    @property
    def group(self) -> str | None:
        """The placement group that exists, where the spec names one."""
        placement = self.placement
        if isinstance(placement, PlacementGroup):
            return placement.group
        return None

    @property
    def strategy(self) -> str | None:
        """The strategy of a new placement group, where the spec names one."""
        if isinstance(self.placement, str):
            return self.placement
        return None

    @property
    def capacity_types(self) -> tuple[str, ...]:
        """How the nodes are bought, in the order in which it is tried: `onDemand`, `spot`, `reserved`, `block`."""
        return tuple(one.chosen for one in self.capacity)

    @property
    def block(self) -> Block | None:
        """The Capacity Blocks of the pool, where it has any."""
        return self.capacity[0].block


class PoolsSection(Section):
    """The pools of nodes."""

    node_pools: list[NodePool] = Field(
        min_length=1,
        description="The pools of nodes that run jobs.",
        examples=[
            [
                {
                    "name": "h100",
                    "instanceTypes": ["p5.48xlarge"],
                    "zones": ["us-west-2a"],
                    "nodes": {"max": 8},
                }
            ]
        ],
    )


SECTION = PoolsSection
DOCUMENTS = {"TrainingNodePool": ("nodePools", NodePool)}
