"""A test that new nodes must pass before jobs run on them."""

from typing import Annotated, Literal

from pydantic import Field

from trainyard.language.models.base import SpecModel
from trainyard.language.models.types import Image, Whole


class Diagnostics(SpecModel):
    """NVIDIA's diagnostics of DCGM, `dcgmi diag`, as a stage of the test."""

    level: Annotated[Literal[2, 3], Whole] = Field(
        2,
        description="The suite of tests (`dcgmi diag --run`): 2 takes about 2 minutes, 3 about 15, with stress of all "
        "GPUs.",
        examples=[3],
    )
    image: Image | None = Field(
        None,
        description="An image with `nv-hostengine` and `dcgmi`; derived: NVIDIA's image of DCGM.",
        examples=["registry.example/dcgm:4.6.0-1-ubuntu24.04"],
    )


class BurnIn(SpecModel):
    """New nodes are tested, and carry a taint until they pass."""

    image: Image | None = Field(
        None,
        description="An image with nccl-tests and libfabric's `fi_info`; derived: that of the acceptance test of EFA.",
        examples=["registry.example/nccl-tests:2.17.8"],
    )
    diagnostics: Diagnostics | None = Field(
        None,
        description="NVIDIA's diagnostics of the GPUs, before all of them are tested together; unset: they do not run.",
        examples=[{"level": 3}],
    )
