"""Taints of a pool's nodes."""

from typing import Literal

from pydantic import Field

from trainyard.language.models.base import SpecModel
from trainyard.language.models.types import LabelValue, TaintKey


class Taint(SpecModel):
    """A taint in addition to the one for accelerators."""

    key: TaintKey = Field(description="The taint's key.", examples=["example.com/team"])
    value: LabelValue = Field(
        "", description="The taint's value; unset: empty.", examples=["research"]
    )
    effect: Literal["NoSchedule", "NoExecute", "PreferNoSchedule"] = Field(
        "NoSchedule",
        description="What happens to pods that do not tolerate the taint.",
        examples=["NoSchedule"],
    )
