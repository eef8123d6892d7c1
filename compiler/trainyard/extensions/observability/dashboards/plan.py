"""Dashboards: panels with their queries, as far as rules and readers need them."""

from __future__ import annotations

from trainyard.language.dataclass import dataclass
from trainyard.plan.base import PlanItem


@dataclass(frozen=True, slots=True)
class Query:
    """A query of Prometheus. ``legend``: the name of each of its series, in Grafana's form."""

    expr: str
    legend: str = ""


@dataclass(frozen=True, slots=True)
class Panel:
    """A panel. ``kind`` is Grafana's name of what draws it, ``unit`` that of the unit, ``row`` the title above it,
    ``about`` what its reader must know."""

    title: str
    kind: str
    unit: str
    queries: tuple[Query, ...]
    row: str = ""
    about: str = ""


@dataclass(frozen=True, slots=True)
class Variable:
    """What the reader chooses from: ``query`` is a query of Grafana, such as ``label_values(metric, label)``.

    ``several``: more than one value, and all of them at first.
    """

    name: str
    query: str
    several: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Dashboard(PlanItem):
    """A dashboard in a ConfigMap. ``file`` is its key there, ``uid`` its name in addresses of Grafana."""

    name: str
    namespace: str
    file: str
    uid: str
    title: str
    variables: tuple[Variable, ...]
    panels: tuple[Panel, ...]
