"""The spec of monitoring: one key, since pools, queues, jobs and storage say what there is to watch."""

from typing import TYPE_CHECKING

from pydantic import Field

from trainyard.language.models.lazy import lazy_models
from trainyard.language.models.section import Section

if TYPE_CHECKING:
    from trainyard.eks.monitoring.forms.monitoring import Monitoring
else:
    (Monitoring,) = lazy_models("eks.monitoring.forms.monitoring", "Monitoring")


class MonitoringSection(Section):
    """Metrics, and alerts over them."""

    monitoring: Monitoring | None = Field(
        None,
        description="Prometheus and Alertmanager with exporters and alerts; unset: none of them.",
        examples=[{}],
    )


SECTION = MonitoringSection
