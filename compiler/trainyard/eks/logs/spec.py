"""The spec of logs: one key."""

from typing import TYPE_CHECKING

from pydantic import Field

from trainyard.language.models.lazy import lazy_models
from trainyard.language.models.section import Section

if TYPE_CHECKING:
    from trainyard.eks.logs.forms.logs import Logs
else:
    (Logs,) = lazy_models("eks.logs.forms.logs", "Logs")


class LogsSection(Section):
    """The logs of pods."""

    logs: Logs | None = Field(
        None,
        description="Where the logs of pods are kept after the pods are gone; unset: on their nodes alone.",
        examples=[{"loki": {}}],
    )


SECTION = LogsSection
