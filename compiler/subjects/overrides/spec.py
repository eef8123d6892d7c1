"""The ways out of the language, as people write them."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from compiler.spec.base import SpecModel
from compiler.spec.section import Section
from compiler.spec.types import ComponentVersion, Name


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


class OverridesSection(Section):
    """The ways out of the language."""

    components: dict[Name, Component] = Field(
        {},
        description="Versions and chart values that differ from the release's, by component.",
        examples=[{"trainer": {"version": "2.3.0"}}],
    )


SECTION = OverridesSection
