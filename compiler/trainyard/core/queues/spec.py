"""The spec of queues, cohorts and priorities."""

from typing import Annotated, Literal, Self

from pydantic import model_validator

from trainyard.language.models.base import SpecModel
from trainyard.language.models.checks import fault
from trainyard.language.models.choice import needed
from trainyard.language.models.field import Field
from trainyard.language.models.section import Section
from trainyard.language.models.types import Distinct, Duration, Name, Period, Quantity


class BorrowWithinCohort(SpecModel):
    """Which jobs of other queues a waiting job may stop although it borrows."""

    policy: Literal["Never", "LowerPriority"] = Field(
        description="Which jobs of other queues of the cohort a waiting job that must borrow may stop.",
        examples=["LowerPriority"],
        bound="`Never`, `LowerPriority`; in a cohort, with `reclaimWithinCohort`, without fair sharing",
        source="kueue.x-k8s.io ClusterQueue preemption",
        codes=("SPC005", "QUE016"),
    )
    max_priority_threshold: int | None = Field(
        None,
        ge=-(2**31),
        le=2**31 - 1,
        description="The highest priority of a job that may be stopped this way; unset: any that is lower than the "
        "waiting job's.",
        examples=[100],
        bound="an int32",
        source="kueue.x-k8s.io ClusterQueue preemption",
    )


class Weight(SpecModel):
    """The share in what a cohort has free, against the other members."""

    # Kueue's webhook: not negative, and above 1n if not 0 (v0.19.2, pkg/webhooks/common.go).
    weight: Quantity = Field(
        description="The weight against other members of the cohort in what is free; 0 is always last; Kueue takes "
        "1 where none is given.",
        examples=[2, "500m"],
        bound="0 or more; of a queue in a cohort, or of a cohort with a parent",
        source="kueue v0.19.2, pkg/webhooks/common.go",
        codes=("SPC005",),
    )


class FlavorFungibility(SpecModel):
    """Whether a job tries the next pool of the queue before it borrows or stops others."""

    when_can_borrow: Literal["MayStopSearch", "TryNextFlavor"] = Field(
        "MayStopSearch",
        description="Whether a job that would have to borrow nodes of a pool tries the next pool of the quota first "
        "(`TryNextFlavor`).",
        examples=["TryNextFlavor"],
        bound="`MayStopSearch`, `TryNextFlavor`",
        source="kueue.x-k8s.io ClusterQueue flavorFungibility",
    )
    when_can_preempt: Literal["MayStopSearch", "TryNextFlavor"] = Field(
        "TryNextFlavor",
        description="Whether a job that would have to stop others in a pool tries the next pool of the quota first "
        "(`TryNextFlavor`).",
        examples=["MayStopSearch"],
        bound="`MayStopSearch`, `TryNextFlavor`",
        source="kueue.x-k8s.io ClusterQueue flavorFungibility",
    )
    preference: Literal["BorrowingOverPreemption", "PreemptionOverBorrowing"] | None = Field(
        None,
        description="Which pool a job takes where each of them would need borrowing or preemption; needs both "
        "others as `TryNextFlavor`; unset: borrowing.",
        examples=["PreemptionOverBorrowing"],
        bound="`BorrowingOverPreemption`, `PreemptionOverBorrowing`; with both others `TryNextFlavor`",
        source="kueue.x-k8s.io ClusterQueue flavorFungibility, CEL rule (v0.19.2)",
        codes=("SPC005",),
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
        description="The cohort's name, which queues refer to.",
        examples=["training"],
        bound="a label of 63 characters at most, unique",
        source="kueue.x-k8s.io Cohort",
        codes=("RES009",),
    )
    parent_name: Name | None = Field(
        None,
        description="The cohort that this one lends to and borrows from; unset: none.",
        examples=["company"],
        bound="a declared cohort; not one below it",
        source="kueue.x-k8s.io Cohort parentName",
        codes=("RES014", "REF003"),
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
        bound="one of three lists",
        source="kueue v0.19.2, pkg/config/validation.go",
        codes=("SPC005",),
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


class PoolQuota(SpecModel):
    """A share of a pool, in whole nodes."""

    pool: Name = Field(
        description="The pool that the nodes belong to.",
        examples=["h100"],
        bound="a declared pool, each once",
        source="kueue.x-k8s.io ClusterQueue resourceGroups",
        codes=("RES009", "RES011"),
    )
    nodes: int = Field(
        ge=0,
        description="The nodes of the pool that are this queue's own.",
        examples=[8],
        bound="0 or more; all queues together no more than the pool has",
        source="kueue.x-k8s.io ClusterQueue nominalQuota",
        codes=("QUE004",),
    )
    borrowing_limit: int | None = Field(
        None,
        ge=0,
        description="The most nodes that the queue may borrow from its cohort; unset: all that are free.",
        examples=[4],
        bound="0 or more, in a cohort",
        source="kueue.x-k8s.io ClusterQueue borrowingLimit",
        codes=("SPC005",),
    )
    lending_limit: int | None = Field(
        None,
        ge=0,
        description="The most of its own nodes that the queue lends to its cohort; unset: all.",
        examples=[4],
        bound="0 to `nodes`, in a cohort",
        source="kueue.x-k8s.io ClusterQueue lendingLimit",
        codes=("SPC005",),
    )

    @model_validator(mode="after")
    def _lends_its_own(self) -> Self:
        if self.lending_limit is not None and self.lending_limit > self.nodes:
            raise fault(
                f"a quota of {self.nodes} nodes that lends {self.lending_limit}",
                f"write `lendingLimit: {self.nodes}` or less",
                "lendingLimit",
                source="kueue v0.19.2, pkg/webhooks/clusterqueue_webhook.go",
            )
        return self


class Preemption(SpecModel):
    """Which running jobs a waiting job of this queue may stop."""

    within_cluster_queue: Literal["Never", "LowerPriority", "LowerOrNewerEqualPriority"] = Field(
        "LowerPriority",
        description="Which running jobs of the same queue a waiting job may stop.",
        examples=["LowerPriority"],
        bound="`Never`, `LowerPriority`, `LowerOrNewerEqualPriority`",
        source="kueue.x-k8s.io ClusterQueue preemption",
    )
    reclaim_within_cohort: Literal["Never", "LowerPriority", "Any"] = Field(
        "Any",
        description="Which jobs of other queues, that borrowed this queue's nodes, a waiting job may stop; used only "
        "in a cohort.",
        examples=["Any"],
        bound="`Never`, `LowerPriority`, `Any`",
        source="kueue.x-k8s.io ClusterQueue preemption",
    )
    borrow_within_cohort: BorrowWithinCohort | None = Field(
        None,
        description="Which jobs of other queues a waiting job may stop although it borrows; not with fair sharing; "
        "unset: none.",
        examples=[{"policy": "LowerPriority", "maxPriorityThreshold": 100}],
    )

    @property
    def borrows_by_priority(self) -> bool:
        """Whether a job that borrows may stop jobs of other queues."""
        borrowing = self.borrow_within_cohort
        return borrowing is not None and borrowing.policy != "Never"

    @model_validator(mode="after")
    def _reclaims_what_it_borrows(self) -> Self:
        if self.borrows_by_priority and self.reclaim_within_cohort == "Never":
            raise fault(
                "`borrowWithinCohort` stops jobs of other queues, and `reclaimWithinCohort` is `Never`",
                "write `reclaimWithinCohort: LowerPriority`, or `Any`",
                "borrowWithinCohort",
                source="kueue.x-k8s.io/v1beta2 ClusterQueue, rule of preemption (v0.19.2)",
            )
        return self


class Queue(SpecModel):
    """A queue: who may submit, and how many nodes of which pools."""

    model_config = needed(fairSharing="cohort")

    name: Name = Field(
        description="The queue's name, which jobs refer to.",
        examples=["research"],
        bound="a label of 63 characters at most, unique",
        source="kueue.x-k8s.io ClusterQueue, LocalQueue; it is a label's value",
        codes=("RES009",),
    )
    namespaces: Annotated[list[Name], Distinct] = Field(
        min_length=1,
        description="The namespaces whose jobs the queue takes.",
        examples=[["team-a"]],
        bound="one or more, each once and declared",
        source="kueue.x-k8s.io ClusterQueue namespaceSelector",
        codes=("RES013", "RES021"),
    )
    cohort: Name | None = Field(
        None,
        description="The cohort in which the queue lends and borrows nodes; unset: it does neither.",
        examples=["training"],
        bound="a declared cohort, where any is",
        source="kueue.x-k8s.io ClusterQueue cohortName",
        codes=("RES014",),
    )
    quota: list[PoolQuota] = Field(
        min_length=1,
        description="The pools that the queue offers, with its nodes in each, in the order in which Kueue tries them.",
        examples=[[{"pool": "h100", "nodes": 8}]],
    )
    queueing_strategy: Literal["BestEffortFIFO", "StrictFIFO"] = Field(
        "BestEffortFIFO",
        description="Whether smaller jobs may start before an older one that does not fit yet: `BestEffortFIFO` yes, "
        "`StrictFIFO` no.",
        examples=["StrictFIFO"],
        bound="`BestEffortFIFO`, `StrictFIFO`",
        source="kueue.x-k8s.io ClusterQueue queueingStrategy",
    )
    preemption: Preemption = Field(
        Preemption.model_construct(),
        description="Which running jobs a waiting job of this queue may stop to get nodes.",
        examples=[{"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Any"}],
    )
    fair_sharing: Weight | None = Field(
        None,
        description="The queue's weight in its cohort; with the first weight of a cluster Kueue shares fairly.",
        examples=[{"weight": 2}],
    )
    flavor_fungibility: FlavorFungibility | None = Field(
        None,
        description="Whether a job that names no pool tries the next one before it borrows or stops others; unset: "
        "as Kueue does.",
        examples=[{"whenCanBorrow": "TryNextFlavor"}],
    )
    stop_policy: Literal["None", "Hold", "HoldAndDrain"] = Field(
        "None",
        description="Whether the queue is stopped: `Hold` admits no more jobs, `HoldAndDrain` stops those that run as "
        "well.",
        examples=["Hold"],
        bound="`None`, `Hold`, `HoldAndDrain`; no job goes to a queue that is stopped",
        source="kueue.x-k8s.io ClusterQueue stopPolicy",
        codes=("QUE012",),
    )

    @model_validator(mode="after")
    def _shares_with_somebody(self) -> Self:
        if self.cohort is not None:
            return self
        limited = any(
            share.borrowing_limit is not None or share.lending_limit is not None
            for share in self.quota
        )
        if limited:
            raise fault(
                f"queue `{self.name}` borrows or lends, and is in no cohort",
                "add `cohort:`, or remove `borrowingLimit` and `lendingLimit`",
            )
        if self.preemption.borrows_by_priority:
            raise fault(
                f"queue `{self.name}` stops jobs to borrow, and is in no cohort",
                "add `cohort:`, or remove `borrowWithinCohort`",
                "preemption",
            )
        if self.fair_sharing is not None:
            raise fault(
                f"queue `{self.name}` has a weight, and is in no cohort",
                "add `cohort:`, or remove `fairSharing`",
                "fairSharing",
            )
        return self


class Priority(SpecModel):
    """A priority class of workloads in the queues."""

    name: Name = Field(
        description="The priority's name, which jobs refer to.",
        examples=["urgent"],
        bound="a label of 63 characters at most, unique",
        source="kueue.x-k8s.io WorkloadPriorityClass",
        codes=("RES009",),
    )
    value: int = Field(
        ge=-(2**31),
        le=1_000_000_000,
        description="The rank of the priority: jobs of a higher value go first.",
        examples=[1000],
        bound="-2147483648 to 1000000000",
        source="kueue.x-k8s.io WorkloadPriorityClass value (int32); above are the system's",
    )
    description: str = Field(
        "",
        max_length=2048,
        description="What the priority is for, in a sentence for whoever lists the priorities.",
        examples=["Runs that a release waits for."],
        bound="2048 characters at most",
        source="kueue.x-k8s.io WorkloadPriorityClass",
    )


class WaitForPodsReady(SpecModel):
    """How long Kueue waits for the pods of a job that it admitted."""

    timeout: Period | None = Field(
        None,
        description="How long all pods of an admitted job may take until they are ready, before Kueue puts it back in "
        "the queue; derived: `30m`.",
        examples=["40m"],
        bound="above 0; as long as a node and its image take",
        source="config.kueue.x-k8s.io waitForPodsReady",
        codes=("QUE010", "QUE025"),
    )
    recovery_timeout: Duration | None = Field(
        None,
        description="How long a running job may miss a pod before Kueue puts it back in the queue, `0s` for ever; "
        "derived: a repair of its node, at least `timeout`.",
        examples=["45m"],
        bound="0 (for ever), or 10m to 6h",
        source="config.kueue.x-k8s.io waitForPodsReady",
        codes=("QUE024", "QUE030"),
    )
    requeues: int | None = Field(
        None,
        ge=0,
        le=1000,
        description="How often a job whose pods were not ready in time is admitted again, before it waits for "
        "somebody; derived: 10, fewer where the nodes of a pool are dear.",
        examples=[3],
        bound="0 to 1000",
        source="config.kueue.x-k8s.io waitForPodsReady.requeuingStrategy",
    )


class Kueue(SpecModel):
    """Settings of the queue manager, by the names of its Configuration (config.kueue.x-k8s.io/v1beta2)."""

    wait_for_pods_ready: WaitForPodsReady = Field(
        WaitForPodsReady.model_construct(),
        description="How long the pods of an admitted job may take until they are ready.",
        examples=[{"timeout": "40m"}],
    )
    fair_sharing: FairSharing | None = Field(
        None,
        description="How what cohorts have free is shared fairly; derived: both strategies, where a queue or cohort "
        "has a weight.",
        examples=[{"preemptionStrategies": ["LessThanOrEqualToFinalShare"]}],
    )


class QueuesSection(Section):
    """Queues, what they share, and the queue manager."""

    priorities: list[Priority] = Field(
        [],
        description="The priorities that jobs may name.",
        examples=[[{"name": "urgent", "value": 1000}]],
    )
    cohorts: list[Cohort] = Field(
        [],
        description="The cohorts of queues; needed only for a cohort in another cohort, or to have names checked.",
        examples=[[{"name": "training"}]],
    )
    queues: list[Queue] = Field(
        [],
        description="The queues that jobs wait in; derived: one for each pool, with the pool's name and all of its "
        "nodes.",
        examples=[
            [
                {
                    "name": "research",
                    "namespaces": ["team-a"],
                    "quota": [{"pool": "h100", "nodes": 8}],
                }
            ]
        ],
    )
    kueue: Kueue = Field(
        Kueue.model_construct(),
        description="Settings of Kueue, the queue manager.",
        examples=[{"waitForPodsReady": {"timeout": "40m"}}],
    )


SECTION = QueuesSection
DOCUMENTS = {
    "TrainingQueue": ("queues", Queue),
    "TrainingCohort": ("cohorts", Cohort),
    "TrainingPriority": ("priorities", Priority),
}
