"""The escape hatches of the language: `components`, `patches` and `include`."""

from typing import Annotated

from pydantic import Field

from trainyard.eks.overrides.forms.component import Component
from trainyard.eks.overrides.forms.patch import Patch
from trainyard.language.models.section import Section
from trainyard.language.models.types import Distinct, IncludePath, Name


class OverridesSection(Section):
    """The escape hatches of the language."""

    components: dict[Name, Component] = Field(
        {},
        description="Versions and chart values that differ from the release's, by component.",
        examples=[{"trainer": {"version": "2.3.0"}}],
    )
    include: Annotated[list[IncludePath], Distinct] = Field(
        [],
        description="Files, or folders of them, with objects of your own, relative to this file: written, applied and "
        "judged with the rest.",
        examples=[["monitoring/"]],
    )
    patches: list[Patch] = Field(
        [],
        description="Changes of the rendered objects, in order; what comes of them is verified and judged.",
        examples=[
            [
                {
                    "target": {"kind": "ClusterQueue", "name": "research"},
                    "patch": {"metadata": {"labels": {"team": "speech"}}},
                }
            ]
        ],
    )


SECTION = OverridesSection
