"""The spec of logs: one key."""

from pydantic import Field

from trainyard.eks.logs.forms.logs import Logs
from trainyard.language.models.section import Section


class LogsSection(Section):
    """The logs of pods."""

    logs: Logs | None = Field(
        None,
        description="Where the logs of pods are kept after the pods are gone; unset: on their nodes alone.",
        examples=[{"loki": {}}],
    )


SECTION = LogsSection
