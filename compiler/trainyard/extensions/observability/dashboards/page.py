"""A page: a dashboard before it belongs to a cluster."""

from __future__ import annotations

from trainyard.extensions.observability.dashboards.plan import Panel, Variable
from trainyard.language.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Page:
    """``subject`` is its name in files and addresses."""

    subject: str
    title: str
    variables: tuple[Variable, ...]
    panels: tuple[Panel, ...]
