"""Quotas and priorities of the spec as requests of task governance, and what it cannot say of them."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.jobs.binding import resolve_jobs
from trainyard.core.queues.queues import Queue, resolve_queues
from trainyard.core.queues.spec import Priority, QueuesSection
from trainyard.eks.flux.accounts import deliverer, may_make
from trainyard.eks.flux.stages import stage
from trainyard.extensions.hyperpod.governance.admission import RUNTIMES, has_runtimes
from trainyard.extensions.hyperpod.governance.names import (
    local_queue_of,
    namespace_of,
    priority_class_of,
)
from trainyard.extensions.hyperpod.governance.plan import (
    DONT_LEND,
    LEND,
    LEND_AND_BORROW,
    ClusterPolicy,
    ComputeQuota,
    TeamPriority,
    TeamQueue,
)
from trainyard.extensions.hyperpod.settings.spec import AT
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.places import Route
from trainyard.plan import PlanItem
from trainyard.plan.context import SPEC, Context
from trainyard.plan.naming import joined

_AT = AT / "taskGovernance"
_KUEUE = "kueue.x-k8s.io/v1beta2"
_QUOTA_API = "SageMaker API, CreateComputeQuota (botocore 1.44.5)"
_POLICY_API = "SageMaker API, CreateClusterSchedulerConfig (botocore 1.44.5)"
_GUIDE = "SageMaker developer guide, sagemaker-hyperpod-eks-operate-console-ui-governance-policies"
_COVERED = (
    "aws/sagemaker-hyperpod-cli, examples/end_to_end_walkthrough/03-task-governance: the queue of a team has cpu, "
    "memory, nvidia.com/gpu, aws.amazon.com/neurondevice and vpc.amazonaws.com/efa"
)
_LONGEST_QUOTA = 63  # CreateComputeQuota Name
_MOST_NAME, _MOST_PRIORITIES, _MOST_WEIGHT, _MOST_TYPES = 40, 10, 100, 15


def resolve(context: Context) -> Iterator[PlanItem]:
    """The policy of the cluster, and the compute quota of each queue, which is that of a team."""
    queues = context.once(resolve_queues)
    _check_declared(context, queues)
    _check_cohorts(context, queues)
    yield from _policy(context)
    for queue in queues.values():
        yield _compute_quota(context, queue)
        yield _local_queue(context, queue)
    _check_huge_pages(context)
    if has_runtimes(context):
        # One that is Terminating, since a job of a team uses it, is no matter of other teams.
        yield stage(context, RUNTIMES, "platform", account=RUNTIMES, wait=False)
        yield from deliverer(RUNTIMES, may_make("trainer.kubeflow.org", "clustertrainingruntimes"))


def _check_huge_pages(context: Context) -> None:
    """Kueue admits no job that asks for what its queue does not cover, and SageMaker makes the queues."""
    for job in context.once(resolve_jobs):
        pages = job.spec.resources.huge_pages
        if pages:
            context.doubt(
                "RES337",
                f"job `{job.spec.name}` asks for {pages} of huge pages, which the queues of task governance do not "
                "cover: it may wait for ever",
                job.at / "resources" / "hugePages",
                "remove it: libfabric is then told to use normal pages",
                source=_COVERED,
            )


# -- the policy of the cluster


def _policy(context: Context) -> Iterator[PlanItem]:
    at = SPEC / "priorities"
    section = QueuesSection.of(context.spec)
    _check_priorities(context, section.priorities, at)
    for index, priority in enumerate(section.priorities):
        name = priority_class_of(priority.name)
        context.external.add((_KUEUE, "WorkloadPriorityClass", "", name))
        yield TeamPriority(at=at / index, name=name, value=priority.value)
    weighed = [queue.name for queue in section.queues if queue.fair_sharing is not None]
    if weighed:
        reason = f"queue `{weighed[0]}` has a weight"
    else:
        reason = "no queue has a weight: who asks first borrows first, as in Kueue"
    context.derive("cluster", "taskGovernance.fairShare", bool(weighed), reason, _POLICY_API)
    yield ClusterPolicy(
        at=_AT,
        name=context.name,
        priorities={priority.name: priority.value for priority in section.priorities},
        fair=bool(weighed),
        tags=dict(context.spec.tags),
        origins={"priorities": at, "fair": SPEC / "queues", "tags": SPEC / "tags"},
    )


def _check_priorities(context: Context, priorities: list[Priority], at: Route) -> None:
    if len(priorities) > _MOST_PRIORITIES:
        context.fault(
            "RES326",
            f"the spec has {len(priorities)} priorities, and task governance takes {_MOST_PRIORITIES}",
            at / _MOST_PRIORITIES,
            "remove those that no job needs",
            source=_POLICY_API,
        )
    for index, priority in enumerate(priorities):
        if not 0 <= priority.value <= _MOST_WEIGHT:
            context.fault(
                "RES326",
                f"priority `{priority.name}` has the value {priority.value}, and a weight of task governance is 0 to "
                f"{_MOST_WEIGHT}",
                at / index / "value",
                "write a weight: the order of the priorities is what counts",
                source=_POLICY_API,
            )
        _check_name(context, "priority", priority.name, at / index / "name")


def _check_name(context: Context, what: str, name: str, at: Route) -> None:
    if len(name) > _MOST_NAME:
        context.fault(
            "RES326",
            f"{what} `{name}` has {len(name)} characters, and task governance takes {_MOST_NAME}",
            at,
            "write a shorter name",
            source=_QUOTA_API,
        )


# -- the compute quotas of teams


def _check_declared(context: Context, queues: dict[str, Queue]) -> None:
    """Without queues each pool would have one of its name in many namespaces; a team has one namespace."""
    implicit = [queue.name for queue in queues.values() if queue.implicit]
    if implicit:
        name = implicit[0]
        context.fault(
            "RES327",
            "task governance has compute quotas of teams, and the spec has no queues",
            _AT,
            f"write `queues: [{{name: TEAM, namespaces: [{namespace_of('TEAM')}], quota: [{{pool: {name}, "
            "nodes: …}]}]`",
            source=_QUOTA_API,
        )


def _check_cohorts(context: Context, queues: dict[str, Queue]) -> None:
    """All teams of a cluster that lend do so to each other."""
    first: Queue | None = None
    for queue in queues.values():
        if queue.spec.cohort is None:
            continue
        first = first or queue
        if queue.spec.cohort != first.spec.cohort:
            context.fault(
                "RES327",
                f"queue `{queue.name}` is in cohort `{queue.spec.cohort}` and queue `{first.name}` in "
                f"`{first.spec.cohort}`; all teams of task governance share with each other",
                queue.place("cohort"),
                f"write `cohort: {first.spec.cohort}`, or remove it: the team then neither lends nor borrows",
                source=_QUOTA_API,
            )


def _compute_quota(context: Context, queue: Queue) -> ComputeQuota:
    _check_queue(context, queue)
    nodes: dict[str, int] = {}
    borrowed: dict[str, int] = {}
    for pool, quota, at in queue.quota:
        for name in pool.spec.instance_types:
            if name in nodes:
                context.fault(
                    "RES327",
                    f"queue `{queue.name}` has quotas of two pools of `{name}`: a compute quota is of an instance type",
                    at / "pool",
                    "write one quota, of all nodes of the type, or make the pools one",
                    source=_QUOTA_API,
                )
            nodes[name] = quota.nodes
            if quota.borrowing_limit:
                borrowed[name] = quota.borrowing_limit
    if len(nodes) > _MOST_TYPES:
        context.fault(
            "RES327",
            f"queue `{queue.name}` has quotas of {len(nodes)} instance types, and a compute quota {_MOST_TYPES}",
            queue.place("quota"),
            "leave out pools that the team does not use",
            source=_QUOTA_API,
        )
    return ComputeQuota(
        at=queue.at,
        name=joined(context.name, queue.name, _LONGEST_QUOTA),
        team=queue.name,
        nodes=nodes,
        sharing=_sharing(context, queue),
        borrowed=borrowed,
        preempts=queue.spec.preemption.within_cluster_queue != "Never",
        weight=_weight(context, queue),
        tags=dict(context.spec.tags),
        origins={
            "nodes": queue.place("quota"),
            "sharing": queue.place("cohort"),
            "borrowed": queue.place("quota"),
            "preempts": queue.place("preemption"),
            "weight": queue.place("fairSharing"),
            "team": queue.place("name"),
            "tags": SPEC / "tags",
        },
    )


def _local_queue(context: Context, queue: Queue) -> TeamQueue:
    namespace, name = namespace_of(queue.name), local_queue_of(queue.name)
    context.external.add((_KUEUE, "LocalQueue", namespace, name))
    context.derive(
        f"queue/{queue.name}",
        "localQueue",
        f"{namespace}/{name}",
        "task governance makes it of the compute quota, under this name",
        _GUIDE,
    )
    return TeamQueue(at=queue.at, name=name, namespace=namespace, cluster_queue=queue.name)


def _check_queue(context: Context, queue: Queue) -> None:
    """Names, and how jobs of the team are stopped."""
    if queue.implicit:
        return
    _check_name(context, "queue", queue.name, queue.place("name"))
    wanted = namespace_of(queue.name)
    if queue.namespaces != (wanted,):
        context.fault(
            "RES328",
            f"queue `{queue.name}` takes jobs of {listed(queue.namespaces)}, and task governance makes one namespace "
            f"for its team, `{wanted}`",
            queue.place("namespaces"),
            f"write `namespaces: [{wanted}]`",
            source=_GUIDE,
        )
    if queue.spec.preemption.within_cluster_queue == "LowerOrNewerEqualPriority":
        context.fault(
            "RES328",
            f"queue `{queue.name}` stops newer jobs of the same priority, and task governance those of lower priority "
            "or none",
            queue.place("preemption") / "withinClusterQueue",
            "write `LowerPriority`, or `Never`",
            source=f"{_QUOTA_API}, PreemptTeamTasks",
        )


_STRATEGIES = {(True, True): LEND_AND_BORROW, (False, True): LEND, (False, False): DONT_LEND}
"""What a team does with idle nodes, by whether it borrows and whether it lends."""


def _sharing(context: Context, queue: Queue) -> str:
    """What the team does with idle nodes. The limits of its quotas say it: no cohort, or limits of 0."""
    if queue.spec.cohort is None:
        return DONT_LEND
    wishes = set()
    for _, quota, at in queue.quota:
        wishes.add((quota.borrowing_limit != 0, quota.lending_limit != 0))
        if quota.lending_limit not in (None, 0, quota.nodes):
            context.fault(
                "RES328",
                f"queue `{queue.name}` lends {quota.lending_limit} of {quota.nodes} nodes, and a team of task "
                "governance lends all that are idle, or none",
                at / "lendingLimit",
                "remove it, or write 0",
                source=f"{_QUOTA_API}, ResourceSharingStrategy",
            )
    if not wishes:
        return LEND_AND_BORROW  # its pools have faults of their own
    found = _STRATEGIES.get(wishes.pop())
    if found is None or wishes:
        context.fault(
            "RES328",
            f"queue `{queue.name}` borrows and does not lend, or of some pools alone; a team of task governance lends "
            "and borrows, lends, or does neither, of all",
            queue.place("quota"),
            "write the same limits of 0 for each pool: `borrowingLimit: 0` to lend alone, both to do neither",
            source=f"{_QUOTA_API}, ResourceSharingStrategy",
        )
        return LEND_AND_BORROW
    return found


def _weight(context: Context, queue: Queue) -> int | None:
    given = queue.spec.fair_sharing
    if given is None:
        return None
    weight = given.weight
    if weight.milli % 1000 or not 0 <= weight.milli <= _MOST_WEIGHT * 1000:
        context.fault(
            "RES328",
            f"queue `{queue.name}` has the weight {weight}, and task governance takes whole numbers from 0 to "
            f"{_MOST_WEIGHT}",
            queue.place("fairSharing") / "weight",
            "write the weights of all queues as whole numbers",
            source=f"{_QUOTA_API}, FairShareWeight",
        )
        return None
    return weight.milli // 1000
