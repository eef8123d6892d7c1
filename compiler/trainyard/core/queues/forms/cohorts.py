"""What queues of a cohort share, and by which rules."""

from typing import Literal, Self

from pydantic import Field, model_validator

from trainyard.language.models.base import SpecModel
from trainyard.language.models.checks import fault
from trainyard.language.models.choice import needed
from trainyard.language.models.types import Name, Quantity


class BorrowWithinCohort(SpecModel):
    """Which jobs of other queues a waiting job may stop although it borrows."""

    policy: Literal["Never", "LowerPriority"] = Field(
        description="Which jobs of other queues of the cohort a waiting job that must borrow may stop.",
        examples=["LowerPriority"],
    )
    max_priority_threshold: int | None = Field(
        None,
        ge=-(2**31),
        le=2**31 - 1,
        description="The highest priority of a job that may be stopped this way; unset: any that is lower than the "
        "waiting job's.",
        examples=[100],
    )


class Weight(SpecModel):
    """The share in what a cohort has free, against the other members."""

    # Kueue's webhook: not negative, and above 1n if not 0 (v0.19.2, pkg/webhooks/common.go).
    weight: Quantity = Field(
        description="The weight against other members of the cohort in what is free; 0 is always last; Kueue takes "
        "1 where none is given.",
        examples=[2, "500m"],
    )


class FlavorFungibility(SpecModel):
    """Whether a job tries the next pool of the queue before it borrows or stops others."""

    when_can_borrow: Literal["MayStopSearch", "TryNextFlavor"] = Field(
        "MayStopSearch",
        description="Whether a job that would have to borrow nodes of a pool tries the next pool of the quota first "
        "(`TryNextFlavor`).",
        examples=["TryNextFlavor"],
    )
    when_can_preempt: Literal["MayStopSearch", "TryNextFlavor"] = Field(
        "TryNextFlavor",
        description="Whether a job that would have to stop others in a pool tries the next pool of the quota first "
        "(`TryNextFlavor`).",
        examples=["MayStopSearch"],
    )
    preference: Literal["BorrowingOverPreemption", "PreemptionOverBorrowing"] | None = Field(
        None,
        description="Which pool a job takes where each of them would need borrowing or preemption; needs both "
        "others as `TryNextFlavor`; unset: borrowing.",
        examples=["PreemptionOverBorrowing"],
    )

    @model_validator(mode="after")
    def _tries_all(self) -> Self:
        tried = (self.when_can_borrow, self.when_can_preempt)
        if self.preference is not None and tried != ("TryNextFlavor",) * 2:
            raise fault(
                "`preference` compares pools, and the search stops at the first that fits",
                "write `whenCanBorrow: TryNextFlavor` and `whenCanPreempt: TryNextFlavor`",
                "preference",
                source="kueue.x-k8s.io/v1beta2 ClusterQueue, rule of flavorFungibility (v0.19.2)",
            )
        return self


class Cohort(SpecModel):
    """A group of queues that lend each other what they do not use."""

    model_config = needed(fairSharing="parentName")

    name: Name = Field(
        description="The cohort's name, which queues refer to.", examples=["training"]
    )
    parent_name: Name | None = Field(
        None,
        description="The cohort that this one lends to and borrows from; unset: none.",
        examples=["company"],
    )
    fair_sharing: Weight | None = Field(
        None,
        description="The cohort's weight among the members of its parent.",
        examples=[{"weight": 2}],
    )

    @model_validator(mode="after")
    def _shares_with_somebody(self) -> Self:
        if self.fair_sharing is not None and self.parent_name is None:
            raise fault(
                f"cohort `{self.name}` has a weight, and no parent",
                "add `parentName:`, or remove `fairSharing`",
                "fairSharing",
            )
        return self


Strategy = Literal["LessThanOrEqualToFinalShare", "LessThanInitialShare"]


# kueue v0.19.2, pkg/config/validation.go: no other list is accepted.
_STRATEGIES: tuple[list[Strategy], ...] = (
    ["LessThanOrEqualToFinalShare"],
    ["LessThanInitialShare"],
    ["LessThanOrEqualToFinalShare", "LessThanInitialShare"],
)


class FairSharing(SpecModel):
    """Fair sharing of what cohorts have free: jobs of the member with the lowest share go first."""

    preemption_strategies: list[Strategy] = Field(
        list(_STRATEGIES[-1]),
        description="When a job may stop one of a member with a larger share; each strategy is tried where those "
        "before it found too little.",
        examples=[["LessThanOrEqualToFinalShare"]],
        json_schema_extra={"enum": [list(each) for each in _STRATEGIES]},
    )

    @model_validator(mode="after")
    def _of_those_there_are(self) -> Self:
        if self.preemption_strategies not in _STRATEGIES:
            given = ", ".join(self.preemption_strategies)
            raise fault(
                f"`[{given}]` is no list that Kueue starts with",
                f"write `[{', '.join(_STRATEGIES[-1])}]`, or one of the two",
                "preemptionStrategies",
                source="kueue v0.19.2, pkg/config/validation.go",
            )
        return self
