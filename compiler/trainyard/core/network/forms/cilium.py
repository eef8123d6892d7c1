"""Cilium, chained behind the VPC CNI."""

from pydantic import Field

from trainyard.language.models.base import SpecModel


class Cilium(SpecModel):
    """Cilium behind the VPC CNI: addresses stay those of the VPC, and Cilium enforces network policies."""

    startup_taint: bool = Field(
        True,
        description="Whether nodes of pools start with the taint `node.cilium.io/agent-not-ready`, which Cilium "
        "removes: no pod starts before its policies hold.",
        examples=[False],
    )
