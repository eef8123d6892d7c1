"""The model that a job trains, and how its ranks divide it."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from compiler.spec.base import SpecModel
from compiler.spec.checks import fault
from compiler.spec.types import Count, ModelSize

Degree = Annotated[int, Field(ge=1, le=65536)]


class Parallel(SpecModel):
    """How the ranks of a job divide the model and its data; together the degrees are all ranks."""

    tensor: Degree = Field(
        1, description="The ranks that divide each layer, best those of one node.", examples=[8]
    )
    pipeline: Degree = Field(
        1, description="The stages of layers, one after the other.", examples=[4]
    )
    context: Degree = Field(1, description="The ranks that divide each sequence.", examples=[2])
    data: int | None = Field(
        None,
        ge=1,
        le=65536,
        description="The copies of the model, each with data of its own; derived: the ranks that are left.",
        examples=[16],
    )


class Model(SpecModel):
    """The model, so that its training state can be compared with the memory of the accelerators."""

    parameters: ModelSize = Field(
        description="The number of parameters of the model.", examples=[8.03e9]
    )
    trainable: Count | None = Field(
        None,
        description="The number of parameters that are trained, with adapters (LoRA) a few of them; unset: all.",
        examples=[41.9e6],
    )
    precision: Literal["fp32", "bf16", "fp16", "fp8"] = Field(
        "bf16", description="The format in which the model computes.", examples=["bf16"]
    )
    sharding: Literal["none", "optimizer", "gradients", "full"] = Field(
        "none",
        description="What is divided among the ranks: nothing, the optimizer (ZeRO-1), gradients too (ZeRO-2), or "
        "weights too (`full`: FSDP, ZeRO-3).",
        examples=["full"],
    )
    offload: Literal["optimizer", "parameters"] | None = Field(
        None,
        description="What is kept in the node's memory: gradients and `optimizer`, or `parameters` too; unset: "
        "nothing.",
        examples=["optimizer"],
    )
    parallel: Parallel | None = Field(
        None,
        description="The degrees of parallelism; unset: every rank has a copy of the model, or a shard of one.",
        examples=[{"tensor": 8, "pipeline": 4}],
    )
    optimizer_bytes: int | None = Field(
        None,
        ge=0,
        le=32,
        description="The bytes of optimizer state for each parameter; derived: 8 for `fp32`, otherwise 12, as Adam "
        "has.",
        examples=[12],
    )

    @model_validator(mode="after")
    def _trains_what_there_is(self) -> Self:
        trained = self.trainable
        if trained is not None and trained > self.parameters:
            raise fault(
                f"{self.trainable:.3g} parameters are trained, and the model has {self.parameters:.3g}",
                "write how many of them are trained, or remove it: all are",
                "trainable",
            )
        return self
