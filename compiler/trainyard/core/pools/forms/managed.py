"""Pools that are EKS managed node groups."""

from typing import Literal, Self

from pydantic import Field, model_validator

from trainyard.language.models.base import SpecModel
from trainyard.language.models.checks import fault


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
    )
    node_unhealthy_reason: str = Field(
        min_length=1,
        max_length=128,
        description="The reason that the condition has.",
        examples=["NvidiaXID79Error"],
    )
    min_repair_wait_time_mins: int = Field(
        ge=1,
        le=10080,
        description="The minutes that the node has been so before anything is done.",
        examples=[5],
    )
    repair_action: Literal["Replace", "Reboot", "NoAction"] = Field(
        description="What is done about it.", examples=["Reboot"]
    )


class NodeRepairConfig(SpecModel):
    """How EKS repairs nodes of the group, by the keys of eksctl's ``nodeRepairConfig``."""

    enabled: bool = Field(True, description="Whether sick nodes are repaired.", examples=[True])
    max_unhealthy_node_threshold_count: int | None = Field(
        None,
        ge=1,
        le=5000,
        description="With more sick nodes than this none is repaired.",
        examples=[2],
    )
    max_unhealthy_node_threshold_percentage: int | None = Field(
        None,
        ge=1,
        le=100,
        description="With a larger part of the nodes sick than this, in percent, none is repaired.",
        examples=[20],
    )
    max_parallel_nodes_repaired_count: int | None = Field(
        None, ge=1, le=5000, description="The most nodes that are repaired at once.", examples=[1]
    )
    max_parallel_nodes_repaired_percentage: int | None = Field(
        None,
        ge=1,
        le=100,
        description="The largest part of the sick nodes, in percent, that is repaired at once.",
        examples=[50],
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
