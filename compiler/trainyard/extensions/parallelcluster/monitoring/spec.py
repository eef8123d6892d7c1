"""The spec of monitoring: GPUs that CloudWatch's agent measures, and alarms of the head node and of nodes."""

from trainyard.language.models.base import SpecModel
from trainyard.language.models.field import Field
from trainyard.language.models.section import Section
from trainyard.language.models.types import ScrapeInterval
from trainyard.language.units import Duration


class Monitoring(SpecModel):
    """What CloudWatch is sent and watches, beside what ParallelCluster gives it by itself."""

    interval: ScrapeInterval = Field(
        Duration(60),
        description="How often the GPUs of each node are measured.",
        examples=["30s"],
        bound="5s to 2m",
        source="CloudWatch user guide, CloudWatch-Agent-NVIDIA-GPU: metrics_collection_interval",
    )


class MonitoringSection(Section):
    """Metrics, and alarms over them."""

    monitoring: Monitoring | None = Field(
        None,
        description="Metrics of GPUs in CloudWatch, and alarms of nodes that `notifications` hears; unset: neither.",
        examples=[{}],
    )


SECTION = MonitoringSection
