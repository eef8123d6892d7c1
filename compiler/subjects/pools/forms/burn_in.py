"""A test of new nodes before any job lands on them."""

from pydantic import Field

from compiler.spec.base import SpecModel
from compiler.spec.types import Image


class BurnIn(SpecModel):
    """New nodes are tested, and carry a taint until they pass."""

    image: Image | None = Field(
        None,
        description="An image with nccl-tests and libfabric's `fi_info`; derived: that of the acceptance test of EFA.",
        examples=["registry.example/nccl-tests:2.17.8"],
    )
