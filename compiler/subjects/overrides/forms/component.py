"""What differs for one component."""

from typing import Any

from pydantic import Field

from compiler.spec.base import SpecModel
from compiler.spec.types import (
    ComponentVersion,
)


class Component(SpecModel):
    """What differs from the release for one component."""

    version: ComponentVersion | None = Field(
        None,
        description="The version of the component; derived: the release's, or the one that another component needs.",
        examples=["0.19.2"],
    )
    values: dict[str, Any] = Field(
        {},
        description="Values of its chart, over Trainyard's: mappings merge by key, lists and scalars replace, `null` "
        "removes a value of Trainyard's.",
        examples=[{"controllerManager": {"replicas": 3}}],
    )
