"""Queues, cohorts and priorities, as people write them."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from compiler.spec.base import SpecModel
from compiler.spec.checks import fault
from compiler.spec.types import Distinct, Name


class PoolQuota(SpecModel):
    """A share of a pool, in whole nodes."""

    pool: Name
    nodes: int = Field(ge=0, description="nodes that are this queue's own")
    borrow: int | None = Field(None, ge=0, description="nodes it may borrow from its cohort at most; unset: all")
    lend: int | None = Field(None, ge=0, description="nodes of its own that it lends at most; unset: all")

    @model_validator(mode="after")
    def _lends_its_own(self) -> Self:
        if self.lend is not None and self.lend > self.nodes:
            raise fault(f"a quota of {self.nodes} nodes that lends {self.lend}", f"write `lend: {self.nodes}` or less",
                        "lend")
        return self


class Preemption(SpecModel):
    """Whom a job of this queue may stop to get its quota."""

    within_queue: Literal["Never", "LowerPriority", "LowerOrNewerEqualPriority"] = "LowerPriority"
    reclaim_from_cohort: Literal["Never", "LowerPriority", "Any"] = "Any"


class Queue(SpecModel):
    """A queue: who may submit, and how many nodes of which pools."""

    name: Name
    namespaces: Annotated[list[Name], Distinct] = Field(min_length=1, description="whose jobs it takes")
    cohort: Name | None = None
    quota: list[PoolQuota] = Field(min_length=1)
    strategy: Literal["BestEffortFIFO", "StrictFIFO"] = "BestEffortFIFO"
    preemption: Preemption = Preemption()

    @model_validator(mode="after")
    def _lends_to_somebody(self) -> Self:
        if self.cohort is None and any(each.borrow is not None or each.lend is not None for each in self.quota):
            raise fault(f"queue `{self.name}` borrows or lends, and is in no cohort",
                        "add `cohort:`, or remove `borrow` and `lend`")
        return self


class Cohort(SpecModel):
    """A group of queues that lend each other what they do not use."""

    name: Name
    parent: Name | None = None


class Priority(SpecModel):
    """A priority class of workloads in the queues."""

    name: Name
    value: int = Field(ge=-(2**31), le=1_000_000_000)
    description: str = Field("", max_length=2048)
