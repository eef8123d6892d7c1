"""The spec of monitoring: one key, since pools, queues, jobs and storage say what there is to watch."""

from pydantic import Field

from trainyard.eks.monitoring.forms.monitoring import Monitoring
from trainyard.language.models.section import Section


class MonitoringSection(Section):
    """Metrics, and alerts over them."""

    monitoring: Monitoring | None = Field(
        None,
        description="Prometheus and Alertmanager with exporters and alerts; unset: none of them.",
        examples=[{}],
    )


SECTION = MonitoringSection
