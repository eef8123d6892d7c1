"""Models of the keys of a pool that are mappings of their own."""

from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, model_validator

from trainyard.language.models.aws import ReservationId
from trainyard.language.models.base import SpecModel
from trainyard.language.models.checks import as_text, fault
from trainyard.language.models.choice import OneOf
from trainyard.language.models.field import Field
from trainyard.language.models.types import (
    MOST_NODES,
    Image,
    LabelValue,
    TaintKey,
    Timestamp,
    Whole,
)


class Diagnostics(SpecModel):
    """NVIDIA's diagnostics of DCGM, `dcgmi diag`, as a stage of the test."""

    level: Annotated[Literal[2, 3], Whole] = Field(
        2,
        description="The suite of tests (`dcgmi diag --run`): 2 takes about 2 minutes, 3 about 15, with stress of all "
        "GPUs.",
        examples=[3],
        bound="2 or 3: level 1 tests no hardware, 4 is for hours",
        source="NVIDIA DCGM 4.6, dcgmi diag",
    )
    image: Image | None = Field(
        None,
        description="An image with `nv-hostengine` and `dcgmi`; derived: NVIDIA's image of DCGM.",
        examples=["registry.example/dcgm:4.6.0-1-ubuntu24.04"],
        bound="an image with a tag or digest; required for pools that are not `amd64`",
        source="NVIDIA/gpu-operator a22dbf6, values.yaml; OCI distribution spec",
        codes=("RES176", "RES248"),
    )


class BurnIn(SpecModel):
    """New nodes are tested, and carry a taint until they pass."""

    image: Image | None = Field(
        None,
        description="An image with nccl-tests and libfabric's `fi_info`; derived: that of the acceptance test of EFA.",
        examples=["registry.example/nccl-tests:2.17.8"],
        bound="an image with a tag or digest; of pools of whole NVIDIA GPUs that Karpenter launches",
        source="karpenter.sh/v1 NodePool startupTaints; OCI distribution spec",
        codes=("RES176", "RES248"),
    )
    diagnostics: Diagnostics | None = Field(
        None,
        description="NVIDIA's diagnostics of the GPUs, before all of them are tested together; unset: they do not run.",
        examples=[{"level": 3}],
    )


class RepairOverride(SpecModel):
    """What is done about one reason of one condition, instead of what EKS does by default."""

    node_monitoring_condition: Literal[
        "AcceleratedHardwareReady",
        "ContainerRuntimeReady",
        "KernelReady",
        "NetworkingReady",
        "StorageReady",
        "Ready",
    ] = Field(
        description="The condition of the node that is False.",
        examples=["AcceleratedHardwareReady"],
        bound="a condition that EKS repairs",
        source="EKS user guide, node-repair",
    )
    node_unhealthy_reason: str = Field(
        min_length=1,
        max_length=128,
        description="The reason that the condition has.",
        examples=["NvidiaXID79Error"],
        bound="1 to 128 characters",
        source="EKS API NodeRepairConfigOverrides",
    )
    min_repair_wait_time_mins: int = Field(
        ge=1,
        le=10080,
        description="The minutes that the node has been so before anything is done.",
        examples=[5],
        bound="1 to 10080, a week",
        source="EKS API NodeRepairConfigOverrides; this language",
    )
    repair_action: Literal["Replace", "Reboot", "NoAction"] = Field(
        description="What is done about it.",
        examples=["Reboot"],
        bound="`Replace`, `Reboot`, `NoAction`",
        source="EKS API NodeRepairConfigOverrides repairAction",
    )


class NodeRepairConfig(SpecModel):
    """How EKS repairs nodes of the group, by the keys of eksctl's ``nodeRepairConfig``."""

    enabled: bool = Field(
        True,
        description="Whether sick nodes are repaired.",
        examples=[True],
        bound="`true` or `false`; nodes that are always on, of one capacity; not p6-b300 with EFA",
        source="EKS API NodeRepairConfig; eksctl v0.230.0, network_interfaces.go",
        codes=("RES172", "HLT016"),
    )
    max_unhealthy_node_threshold_count: int | None = Field(
        None,
        ge=1,
        le=5000,
        description="With more sick nodes than this none is repaired.",
        examples=[2],
        bound="1 to 5000; not with the percentage",
        source="EKS API NodeRepairConfig",
        codes=("SPC005",),
    )
    max_unhealthy_node_threshold_percentage: int | None = Field(
        None,
        ge=1,
        le=100,
        description="With a larger part of the nodes sick than this, in percent, none is repaired.",
        examples=[20],
        bound="1 to 100; not with the count",
        source="EKS API NodeRepairConfig",
        codes=("SPC005",),
    )
    max_parallel_nodes_repaired_count: int | None = Field(
        None,
        ge=1,
        le=5000,
        description="The most nodes that are repaired at once.",
        examples=[1],
        bound="1 to 5000; not with the percentage",
        source="EKS API NodeRepairConfig",
        codes=("SPC005",),
    )
    max_parallel_nodes_repaired_percentage: int | None = Field(
        None,
        ge=1,
        le=100,
        description="The largest part of the sick nodes, in percent, that is repaired at once.",
        examples=[50],
        bound="1 to 100; not with the count",
        source="EKS API NodeRepairConfig",
        codes=("SPC005",),
    )
    node_repair_config_overrides: list[RepairOverride] = Field(
        [],
        description="What is done about single reasons.",
        examples=[
            [
                {
                    "nodeMonitoringCondition": "AcceleratedHardwareReady",
                    "nodeUnhealthyReason": "NvidiaXID79Error",
                    "minRepairWaitTimeMins": 5,
                    "repairAction": "Reboot",
                }
            ]
        ],
    )

    @model_validator(mode="after")
    def _one_measure(self) -> Self:
        pairs = (
            (
                "maxUnhealthyNodeThreshold",
                self.max_unhealthy_node_threshold_count,
                self.max_unhealthy_node_threshold_percentage,
            ),
            (
                "maxParallelNodesRepaired",
                self.max_parallel_nodes_repaired_count,
                self.max_parallel_nodes_repaired_percentage,
            ),
        )
        for key, count, percentage in pairs:
            if count is not None and percentage is not None:
                raise fault(
                    f"both `{key}Count` and `{key}Percentage` are given",
                    "write one of them",
                    f"{key}Percentage",
                    source="EKS API NodeRepairConfig",
                )
        return self


class ManagedNodeGroup(SpecModel):
    """A managed node group of EKS, which eksctl makes: nodes that are always on, and repaired by EKS."""

    node_repair_config: NodeRepairConfig = Field(
        default_factory=NodeRepairConfig,
        description="How EKS repairs nodes of the group; derived: it does.",
        examples=[{"maxParallelNodesRepairedCount": 1}],
    )


class Reservation(SpecModel):
    """A capacity reservation of a pool, and how many of the pool's nodes are in it."""

    id: ReservationId = Field(
        description="The id of the capacity reservation.",
        examples=["cr-0a1b2c3d4e5f60718"],
        bound="`cr-` and 8 or 17 hex digits, each once; of one type, zone and end wherever it is named",
        source="karpenter.k8s.aws/v1 capacityReservationSelectorTerms; EC2 API CapacityReservation",
        codes=("SPC005", "RES039"),
    )
    nodes: int | None = Field(
        None,
        ge=1,
        le=MOST_NODES,
        description="The number of instances in the reservation; may be left out where there is one, and together "
        "they are the pool's nodes.",
        examples=[4],
        bound="1 to 5000, given where there are several; together as many as the pool",
        source="EC2 API CapacityReservation TotalInstanceCount",
        codes=("SPC005", "RES244"),
    )


_LONGEST_BLOCK_DAYS = 182
_BLOCKS = "EC2 user guide, capacity-blocks-purchase"


def _each_counted(reservations: list[Reservation]) -> list[Reservation]:
    """Several reservations, each once and with its nodes."""
    ids = [one.id for one in reservations]
    for one in reservations:
        if ids.count(one.id) > 1:
            raise fault(f"reservation `{one.id}` is listed twice", "remove one of them")
        if len(ids) > 1 and one.nodes is None:
            raise fault(
                f"reservation `{one.id}` is one of {len(ids)}, and its nodes are not given",
                "add `nodes:` to each, as many as it has instances",
            )
    return reservations


Reservations = Annotated[list[Reservation], Field(min_length=1), AfterValidator(_each_counted)]


class Reserved(SpecModel):
    """On-Demand Capacity Reservations (ODCR)."""

    reservations: Reservations = Field(
        description="The capacity reservations, each with its nodes; a job is kept inside one of them where it fits.",
        examples=[[{"id": "cr-0a1b2c3d4e5f60718", "nodes": 4}]],
    )


class Block(SpecModel):
    """Capacity Blocks for ML: instances of a time that was bought beforehand."""

    reservations: Reservations = Field(
        description="The Capacity Blocks, each with its nodes; a job is kept inside one of them where it fits.",
        examples=[[{"id": "cr-0a1b2c3d4e5f60718", "nodes": 4}]],
    )
    starts: Timestamp | None = Field(
        None,
        description="When the Capacity Block starts, with its time zone.",
        examples=["2026-12-01T11:30:00Z"],
        bound="a time with its zone, before `ends`",
        source="EC2 API CapacityBlock StartDate",
        codes=("SPC005",),
    )
    ends: Timestamp | None = Field(
        None,
        description="When the Capacity Block ends, at 11:30 UTC; its jobs are stopped 40 minutes before.",
        examples=["2026-12-15T11:30:00Z"],
        bound="11:30 UTC; 182 days after the start at most; not over",
        source="EC2 user guide, capacity-blocks-purchase (docs.aws.amazon.com/AWSEC2/latest/UserGuide)",
        codes=("SPC005", "PLC037", "RES244", "PLC045"),
    )

    @model_validator(mode="after")
    def _ends_later(self) -> Self:
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


def _profile(value: Any) -> str:
    """A profile of MIG: its compute slices and its memory."""
    text = as_text(value, "a profile of MIG", "1g.10gb")
    compute, _, memory = text.partition(".")
    cores = compute.removesuffix("g")
    is_compute = compute.endswith("g") and cores.isdecimal()
    size = memory.removesuffix("gb")
    is_memory = memory.endswith("gb") and size.isdecimal()
    if not is_compute or not is_memory:
        raise fault(f"`{text}` is no profile of MIG", "write one like `1g.10gb`")
    return text


class Mig(SpecModel):
    """Every GPU of the pool, cut into slices of one profile with memory and compute of their own."""

    profile: Annotated[str, BeforeValidator(_profile)] = Field(
        description="The profile of the slices; a GPU has as many of it as fit.",
        examples=["1g.10gb"],
        bound="a profile of the pool's GPUs; not with EFA",
        source="NVIDIA/mig-parted bd7160f, config-default.yaml",
        codes=("SPC005", "RES173"),
    )


class TimeSlicing(SpecModel):
    """Every GPU of the pool, offered several times, to jobs that take turns and share its memory."""

    replicas: int = Field(
        ge=2,
        le=64,
        description="How many jobs a GPU is offered to.",
        examples=[4],
        bound="2 to 64; not with EFA; jobs have one share",
        source="NVIDIA/k8s-device-plugin v0.20.0, README",
        codes=("RES173", "RES174"),
    )


class Sharing(OneOf):
    """How the GPUs of a pool are shared."""

    mig: Mig | None = Field(
        None,
        description="By Multi-Instance GPU: slices with memory of their own.",
        examples=[{"profile": "1g.10gb"}],
    )
    time_slicing: TimeSlicing | None = Field(
        None,
        description="By turns: nothing keeps one job from taking all of the memory.",
        examples=[{"replicas": 4}],
    )


class Taint(SpecModel):
    """A taint in addition to the one for accelerators."""

    key: TaintKey = Field(
        description="The taint's key.",
        examples=["example.com/team"],
        bound="a label's key; none that a controller sets; once for each effect, and not the pool's own",
        source="Kubernetes, well-known taints; core/v1 NodeSpec",
        codes=("RES020",),
    )
    value: LabelValue = Field(
        "",
        description="The taint's value; unset: empty.",
        examples=["research"],
        bound="a label's value",
        source="Kubernetes, labels",
    )
    effect: Literal["NoSchedule", "NoExecute", "PreferNoSchedule"] = Field(
        "NoSchedule",
        description="What happens to pods that do not tolerate the taint.",
        examples=["NoSchedule"],
        bound="`NoSchedule`, `NoExecute`, `PreferNoSchedule`",
        source="core/v1 Taint",
    )
