"""Lift: Kueue's flavors, queues, cohorts, topologies, priorities and the manager's configuration."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.lift.pods import taints, tolerations
from compiler.lift.reader import Reader, name_of, namespace_of
from compiler.plan.base import PlanNode
from compiler.plan.units import Duration
from compiler.subjects.queues.plan import (
    ClusterQueue,
    Cohort,
    Flavor,
    FlavorFungibility,
    FlavorQuotas,
    LocalQueue,
    Preemption,
    QueueManager,
    Quota,
    ResourceGroup,
    Topology,
    WorkloadPriority,
)


def topology(body: Reader) -> Iterator[PlanNode]:
    """Topology."""
    levels = body.follow("spec", "levels")
    yield Topology(
        at=body.at,
        name=name_of(body),
        levels=tuple((level / "nodeLabel").word() for level in levels.items()),
        origins={"levels": levels.at},
    )


def flavor(body: Reader) -> Iterator[PlanNode]:
    """ResourceFlavor."""
    spec = body / "spec"
    yield Flavor(
        at=body.at,
        name=name_of(body),
        node_labels=(spec / "nodeLabels").strings(),
        node_taints=taints(spec / "nodeTaints"),
        tolerations=tolerations(spec / "tolerations"),
        topology=(spec / "topologyName").text(),
        origins={
            "node_labels": (spec / "nodeLabels").at,
            "node_taints": (spec / "nodeTaints").at,
            "tolerations": (spec / "tolerations").at,
            "topology": (spec / "topologyName").at,
        },
    )


def cohort(body: Reader) -> Iterator[PlanNode]:
    """Cohort."""
    parent = body.follow("spec", "parentName")
    weight = body.follow("spec", "fairSharing", "weight")
    yield Cohort(
        at=body.at,
        name=name_of(body),
        parent=parent.text(),
        weight=weight.quantity(),
        origins={"parent": parent.at, "weight": weight.at},
        groups=tuple(
            _group(group) for group in body.follow("spec", "resourceGroups").items()
        ),
    )


def cluster_queue(body: Reader) -> Iterator[PlanNode]:
    """ClusterQueue, v1beta2 (``cohortName``) or v1beta1 (``cohort``)."""
    spec = body / "spec"
    member = (spec / "cohortName") or (spec / "cohort")
    preemption = spec / "preemption"
    borrowing = preemption / "borrowWithinCohort"
    weight = spec.follow("fairSharing", "weight")
    yield ClusterQueue(
        at=body.at,
        name=name_of(body),
        cohort=member.text() or None,
        origins={
            "cohort": member.at,
            "namespace_selector": (spec / "namespaceSelector").at,
            "stop_policy": (spec / "stopPolicy").at,
            "groups": (spec / "resourceGroups").at,
            "preemption": preemption.at,
            "strategy": (spec / "queueingStrategy").at,
            "fungibility": (spec / "flavorFungibility").at,
            "weight": weight.at,
        },
        groups=tuple(_group(group) for group in (spec / "resourceGroups").items()),
        namespace_selector=_selector(spec / "namespaceSelector"),
        namespaces_excluded={
            (expression / "key").word(): (expression / "values").texts()
            for expression in spec.follow(
                "namespaceSelector", "matchExpressions"
            ).items()
            if (expression / "operator").value == "NotIn"
        },
        strategy=(spec / "queueingStrategy").text() or "BestEffortFIFO",
        preemption=Preemption(
            at=preemption.at,
            within=(preemption / "withinClusterQueue").text() or "Never",
            reclaim=(preemption / "reclaimWithinCohort").text() or "Never",
            borrow_within_cohort=(borrowing / "policy").text() or "Never",
            max_priority_threshold=(borrowing / "maxPriorityThreshold").integer(),
        ),
        fungibility=_fungibility(spec / "flavorFungibility"),
        weight=weight.quantity(),
        stop_policy=(spec / "stopPolicy").word() or "None",
    )


def _fungibility(body: Reader) -> FlavorFungibility | None:
    if not body:
        return None
    return FlavorFungibility(
        at=body.at,
        when_can_borrow=(body / "whenCanBorrow").text() or "MayStopSearch",
        when_can_preempt=(body / "whenCanPreempt").text() or "TryNextFlavor",
    )


def _group(body: Reader) -> ResourceGroup:
    return ResourceGroup(
        at=body.at,
        covered=(body / "coveredResources").texts(),
        flavors=tuple(_flavor(flavor) for flavor in (body / "flavors").items()),
        origins={"covered": (body / "coveredResources").at},
    )


def _flavor(body: Reader) -> FlavorQuotas:
    quotas = (_quota(resource) for resource in (body / "resources").items())
    return FlavorQuotas(
        at=body.at,
        flavor=(body / "name").word(),
        quotas=tuple(quota for quota in quotas if quota),
        origins={"flavor": (body / "name").at},
    )


def _quota(body: Reader) -> Quota | None:
    nominal = (body / "nominalQuota").quantity()
    if nominal is None:
        return None
    return Quota(
        at=body.at,
        resource=(body / "name").word(),
        nominal=nominal,
        borrowing=(body / "borrowingLimit").quantity(),
        lending=(body / "lendingLimit").quantity(),
        origins={
            "nominal": (body / "nominalQuota").at,
            "borrowing": (body / "borrowingLimit").at,
            "lending": (body / "lendingLimit").at,
        },
    )


def _selector(body: Reader) -> dict[str, tuple[str, ...]] | None:
    """Label keys with the values that match; no values where only a cluster can tell (operators other than In)."""
    if not body:
        return None
    selector: dict[str, tuple[str, ...]] = {
        key: (value,) for key, value in (body / "matchLabels").strings().items()
    }
    for expression in (body / "matchExpressions").items():
        known = (expression / "operator").value == "In"
        selector[(expression / "key").word()] = (
            (expression / "values").texts() if known else ()
        )
    return selector


def local_queue(body: Reader) -> Iterator[PlanNode]:
    """LocalQueue."""
    target, policy = (
        body.follow("spec", "clusterQueue"),
        body.follow("spec", "stopPolicy"),
    )
    yield LocalQueue(
        at=body.at,
        name=name_of(body),
        namespace=namespace_of(body),
        cluster_queue=target.word(),
        stop_policy=policy.word() or "None",
        origins={
            "cluster_queue": target.at,
            "namespace": body.follow("metadata", "namespace").at,
            "stop_policy": policy.at,
        },
    )


def priority(body: Reader) -> Iterator[PlanNode]:
    """WorkloadPriorityClass."""
    value = (body / "value").integer()
    if value is not None:
        yield WorkloadPriority(
            at=body.at,
            name=name_of(body),
            value=value,
            description=(body / "description").word(),
        )


def configuration(body: Reader) -> Iterator[PlanNode]:
    """The manager's Configuration, as an object or out of a chart's values (then places are the values')."""
    ready = body / "waitForPodsReady"
    strategy = ready / "requeuingStrategy"
    seconds = (strategy / "backoffBaseSeconds").integer()
    resources, fair = body / "resources", body / "fairSharing"
    yield QueueManager(
        at=body.at,
        fair_sharing=bool(fair)
        and (fair / "enable").flag() is not False,  # v1beta1 has `enable`
        preemption_strategies=(fair / "preemptionStrategies").texts(),
        transformed=tuple(
            (transformation / "input").word()
            for transformation in (resources / "transformations").items()
        ),
        pods_ready=(ready / "timeout").duration(),
        recovery=(ready / "recoveryTimeout").duration(),
        frameworks=body.follow("integrations", "frameworks").texts(),
        requeue_backoff=Duration(seconds) if seconds is not None else None,
        requeue_limit=(strategy / "backoffLimitCount").integer(),
        excluded_prefixes=(resources / "excludeResourcePrefixes").texts(),
        ignore_undeclared=(resources / "quotaCheckStrategy").value
        == "IgnoreUndeclared",
    )


_GROUP, CONFIGURATION = "kueue.x-k8s.io", "config.kueue.x-k8s.io"
KINDS = {
    f"{_GROUP}/Topology": topology,
    f"{_GROUP}/ResourceFlavor": flavor,
    f"{_GROUP}/Cohort": cohort,
    f"{_GROUP}/ClusterQueue": cluster_queue,
    f"{_GROUP}/LocalQueue": local_queue,
    f"{_GROUP}/WorkloadPriorityClass": priority,
    f"{CONFIGURATION}/Configuration": configuration,
}
