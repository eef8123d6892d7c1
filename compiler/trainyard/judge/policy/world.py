"""What rules see besides their own node: the reading of the plan, their parameters, and the day."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from trainyard.catalog import Catalog
from trainyard.judge.model.reading import Reading
from trainyard.judge.policy.rule import NO_PARAMS
from trainyard.output.manifest import Manifest
from trainyard.plan import Plan


class World(Reading):
    """The plan and the catalog as rules see them."""

    def __init__(self, plan: Plan, catalog: Catalog, manifests: Sequence[Manifest] = ()) -> None:
        super().__init__(plan, catalog, manifests)
        self.params: Mapping[str, Any] = NO_PARAMS
        self.today = date.min

    def param(self, name: str) -> Any:
        """The value of a parameter of the rule that is running."""
        return self.params[name]
