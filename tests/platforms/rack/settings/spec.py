"""The key of the platform."""

from pydantic import Field
from trainyard.language.models.base import SpecModel
from trainyard.language.models.section import Section


class Rack(SpecModel):
    """What only a rack has."""

    runner: str = Field(
        "/usr/bin/env bash", description="What runs a task.", examples=["/bin/bash"]
    )


class Platform(SpecModel):
    """What the cluster runs on."""

    rack: Rack = Field(description="Machines that somebody keeps.", examples=[{}])


class ClusterSection(Section):
    """The platform."""

    platform: Platform = Field(
        description="What the cluster runs on: `rack`.", examples=[{"rack": {}}]
    )


SECTION = ClusterSection
