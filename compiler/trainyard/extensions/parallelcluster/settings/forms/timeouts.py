"""How long nodes may take to be set up."""

from pydantic import Field

from trainyard.language.models.base import SpecModel
from trainyard.language.models.types import BootstrapTime


class Timeouts(SpecModel):
    """How long nodes may take to be set up (`DevSettings.Timeouts`)."""

    head_node_bootstrap: BootstrapTime | None = Field(
        None,
        description="How long the head node may take, scripts of one's own too, in whole minutes; unset: 35m.",
        examples=["1h"],
    )
    compute_node_bootstrap: BootstrapTime | None = Field(
        None,
        description="How long a compute node may take before it is replaced, in whole minutes; unset: 35m.",
        examples=["45m"],
    )
