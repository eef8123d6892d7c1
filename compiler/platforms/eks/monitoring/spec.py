"""The spec of monitoring: one key, since pools, queues, jobs and storage say what there is to watch."""

from typing import TYPE_CHECKING

from pydantic import Field

from compiler.spec.lazy import lazy_models
from compiler.spec.section import Section

if TYPE_CHECKING:
    from compiler.platforms.eks.monitoring.forms.monitoring import Monitoring
else:
    (Monitoring,) = lazy_models("platforms.eks.monitoring.forms.monitoring", "Monitoring")


class MonitoringSection(Section):
    """Metrics, and alerts over them."""

    monitoring: Monitoring | None = Field(
        None,
        description="Prometheus and Alertmanager with exporters and alerts; unset: none of them.",
        examples=[{}],
    )


SECTION = MonitoringSection
