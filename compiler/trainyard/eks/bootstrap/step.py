"""A step of ``up.sh`` that a feature brings: its module ``steps`` has ``steps(plan)``."""

from __future__ import annotations

from trainyard.language.dataclass import dataclass

__all__ = ["Step"]


@dataclass(frozen=True, slots=True)
class Step:
    """A step between the cluster's parts and its storage. ``says``: what it is about, as ``up.sh`` lists it;
    ``text``: the function ``step_<name>``, which may call ``write_values``."""

    name: str
    says: str
    text: str
