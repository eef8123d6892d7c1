"""How close to each other the nodes of a job must be."""

from typing import Literal

from pydantic import Field

from trainyard.language.models.choice import OneOf

Level = Literal[
    "reservation",
    "network-node-layer-1",
    "network-node-layer-2",
    "network-node-layer-3",
    "hostname",
]


class JobTopology(OneOf):
    """How close together the nodes of a job are: below one node of a level of the pool's topology."""

    required: Level | None = Field(
        None,
        description="The level below which all nodes of the job must be: it waits until they are.",
        examples=["network-node-layer-2"],
    )
    preferred: Level | None = Field(
        None,
        description="The level below which all nodes of the job are where they fit, or else below the next wider one.",
        examples=["network-node-layer-3"],
    )

    @property
    def level(self) -> Level:
        """The level, whether it is required or preferred."""
        level = self.required or self.preferred
        assert level is not None, "exactly one of the keys is given"
        return level
