"""The spec of node health: which agents watch the nodes."""

from trainyard.language.models.base import SpecModel
from trainyard.language.models.field import Field
from trainyard.language.models.section import Section


class Health(SpecModel):
    """What watches the nodes, and what is done about it."""

    node_monitoring_agent: bool = Field(
        True,
        description="Whether the EKS node monitoring agent runs on every node and reports faults of GPU, network, "
        "storage and kernel.",
        examples=[True],
        bound="`true`, `false`; on where nodes are repaired",
        source="eks-node-monitoring-agent 1.7.0",
        codes=("HLT004",),
    )
    node_problem_detector: bool = Field(
        True,
        description="Whether GPU nodes that report a fatal Xid get a taint at once, which keeps new pods away.",
        examples=[True],
        bound="`true`, `false`",
        source="node-problem-detector",
    )
    node_repair: bool = Field(
        True,
        description="Whether Karpenter replaces nodes that the monitoring agent reports as faulty.",
        examples=[True],
        bound="`true`, `false`; on where sick nodes are detected",
        source="karpenter v1.14.1 nodeRepair",
        codes=("HLT003",),
    )


class HealthSection(Section):
    """What watches the nodes."""

    health: Health = Field(
        Health.model_construct(),
        description="What watches the nodes, and whether faulty ones are replaced.",
        examples=[{"nodeRepair": False}],
    )


SECTION = HealthSection
