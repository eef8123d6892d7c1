"""Queues, cohorts and priorities, as people write them."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from compiler.spec.base import SpecModel
from compiler.spec.checks import fault
from compiler.spec.types import Distinct, Name


class PoolQuota(SpecModel):
    """A share of a pool, in whole nodes."""

    pool: Name = Field(
        description="The pool that the nodes belong to.", examples=["h100"]
    )
    nodes: int = Field(
        ge=0,
        description="The nodes of the pool that are this queue's own.",
        examples=[8],
    )
    borrow: int | None = Field(
        None,
        ge=0,
        description="The most nodes that the queue may borrow from its cohort; unset: all that are free.",
        examples=[4],
    )
    lend: int | None = Field(
        None,
        ge=0,
        description="The most of its own nodes that the queue lends to its cohort; unset: all.",
        examples=[4],
    )

    @model_validator(mode="after")
    def _lends_its_own(self) -> Self:
        if self.lend is not None and self.lend > self.nodes:
            raise fault(
                f"a quota of {self.nodes} nodes that lends {self.lend}",
                f"write `lend: {self.nodes}` or less",
                "lend",
            )
        return self


class Preemption(SpecModel):
    """Which running jobs a waiting job of this queue may stop."""

    within_queue: Literal["Never", "LowerPriority", "LowerOrNewerEqualPriority"] = (
        Field(
            "LowerPriority",
            description="Which running jobs of the same queue a waiting job may stop.",
            examples=["LowerPriority"],
        )
    )
    reclaim_from_cohort: Literal["Never", "LowerPriority", "Any"] = Field(
        "Any",
        description="Which jobs of other queues, that borrowed this queue's nodes, a waiting job may stop; used only "
        "in a cohort.",
        examples=["Any"],
    )


class Queue(SpecModel):
    """A queue: who may submit, and how many nodes of which pools."""

    name: Name = Field(
        description="The queue's name, which jobs refer to.", examples=["research"]
    )
    namespaces: Annotated[list[Name], Distinct] = Field(
        min_length=1,
        description="The namespaces whose jobs the queue takes.",
        examples=[["team-a"]],
    )
    cohort: Name | None = Field(
        None,
        description="The cohort in which the queue lends and borrows nodes; unset: it does neither.",
        examples=["training"],
    )
    quota: list[PoolQuota] = Field(
        min_length=1,
        description="The pools that the queue offers, with its nodes in each.",
        examples=[[{"pool": "h100", "nodes": 8}]],
    )
    strategy: Literal["BestEffortFIFO", "StrictFIFO"] = Field(
        "BestEffortFIFO",
        description="Whether smaller jobs may start before an older one that does not fit yet: `BestEffortFIFO` yes, "
        "`StrictFIFO` no.",
        examples=["StrictFIFO"],
    )
    preemption: Preemption = Field(
        Preemption(),
        description="Which running jobs a waiting job of this queue may stop to get the queue's own nodes.",
        examples=[{"withinQueue": "LowerPriority", "reclaimFromCohort": "Any"}],
    )

    @model_validator(mode="after")
    def _lends_to_somebody(self) -> Self:
        if self.cohort is None and any(
            each.borrow is not None or each.lend is not None for each in self.quota
        ):
            raise fault(
                f"queue `{self.name}` borrows or lends, and is in no cohort",
                "add `cohort:`, or remove `borrow` and `lend`",
            )
        return self


class Cohort(SpecModel):
    """A group of queues that lend each other what they do not use."""

    name: Name = Field(
        description="The cohort's name, which queues refer to.", examples=["training"]
    )
    parent: Name | None = Field(
        None,
        description="The cohort that this one lends to and borrows from; unset: none.",
        examples=["company"],
    )


class Priority(SpecModel):
    """A priority class of workloads in the queues."""

    name: Name = Field(
        description="The priority's name, which jobs refer to.", examples=["urgent"]
    )
    value: int = Field(
        ge=-(2**31),
        le=1_000_000_000,
        description="The rank of the priority: jobs of a higher value go first.",
        examples=[1000],
    )
    description: str = Field(
        "",
        max_length=2048,
        description="What the priority is for, in a sentence for whoever lists the priorities.",
        examples=["Runs that a release waits for."],
    )
