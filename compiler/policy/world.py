"""What rules see besides their own node: the reading of the plan, their parameters, and the day."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from compiler.catalog import Catalog
from compiler.manifest import Manifest
from compiler.model.reading import Reading
from compiler.plan import Plan
from compiler.policy.rule import NO_PARAMS


class World(Reading):
    """The plan and the catalog as rules see them."""

    def __init__(self, plan: Plan, catalog: Catalog, manifests: Sequence[Manifest] = ()) -> None:
        super().__init__(plan, catalog, manifests)
        self.params: Mapping[str, Any] = NO_PARAMS
        self.today = date.min

    def param(self, name: str) -> Any:
        """The value of a parameter of the rule that is running."""
        return self.params[name]
