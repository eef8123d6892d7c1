"""Lift: Kueue's flavors, queues, cohorts, topologies, priorities and the manager's configuration."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.queues.plan import FlavorQuotas, Quota, ResourceGroup
from trainyard.eks.kueue.plan import (
    ClusterQueue,
    Cohort,
    Flavor,
    FlavorFungibility,
    LocalQueue,
    Preemption,
    QueueManager,
    Topology,
    WorkloadPriority,
)
from trainyard.language.units import Duration
from trainyard.lift.pods import taints, tolerations
from trainyard.lift.reader import Reader, embedded, name_of, namespace_of
from trainyard.plan.base import PlanItem


def topology(body: Reader) -> Iterator[PlanItem]:
    """Topology."""
    levels = body.follow("spec", "levels")
    keys = ((level / "nodeLabel").word() for level in levels.items())
    yield Topology(
        at=body.at, name=name_of(body), levels=tuple(keys), origins={"levels": levels.at}
    )


def flavor(body: Reader) -> Iterator[PlanItem]:
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


def cohort(body: Reader) -> Iterator[PlanItem]:
    """Cohort."""
    parent = body.follow("spec", "parentName")
    weight = body.follow("spec", "fairSharing", "weight")
    yield Cohort(
        at=body.at,
        name=name_of(body),
        parent=parent.text(),
        weight=weight.quantity(),
        origins={"parent": parent.at, "weight": weight.at},
        groups=_groups(body.follow("spec", "resourceGroups")),
    )


def cluster_queue(body: Reader) -> Iterator[PlanItem]:
    """ClusterQueue, v1beta2 (``cohortName``) or v1beta1 (``cohort``)."""
    spec = body / "spec"
    member = (spec / "cohortName") or (spec / "cohort")
    groups = spec / "resourceGroups"
    weight = spec.follow("fairSharing", "weight")
    preemption = spec / "preemption"
    selector = spec / "namespaceSelector"
    yield ClusterQueue(
        at=body.at,
        name=name_of(body),
        cohort=member.text() or None,
        origins={
            "cohort": member.at,
            "namespace_selector": selector.at,
            "stop_policy": (spec / "stopPolicy").at,
            "groups": groups.at,
            "preemption": preemption.at,
            "strategy": (spec / "queueingStrategy").at,
            "fungibility": (spec / "flavorFungibility").at,
            "weight": weight.at,
        },
        groups=_groups(groups),
        namespace_selector=_selector(selector),
        namespaces_excluded=_excluded(selector),
        strategy=(spec / "queueingStrategy").text() or "BestEffortFIFO",
        preemption=_preemption(preemption),
        fungibility=_fungibility(spec / "flavorFungibility"),
        weight=weight.quantity(),
        stop_policy=(spec / "stopPolicy").word() or "None",
    )


def _preemption(body: Reader) -> Preemption:
    borrowing = body / "borrowWithinCohort"
    return Preemption(
        at=body.at,
        within=(body / "withinClusterQueue").text() or "Never",
        reclaim=(body / "reclaimWithinCohort").text() or "Never",
        borrow_within_cohort=(borrowing / "policy").text() or "Never",
        max_priority_threshold=(borrowing / "maxPriorityThreshold").integer(),
    )


def _fungibility(body: Reader) -> FlavorFungibility | None:
    if not body:
        return None
    return FlavorFungibility(
        at=body.at,
        when_can_borrow=(body / "whenCanBorrow").text() or "MayStopSearch",
        when_can_preempt=(body / "whenCanPreempt").text() or "TryNextFlavor",
        preference=(body / "preference").text(),
    )


def _groups(groups: Reader) -> tuple[ResourceGroup, ...]:
    return tuple(_group(group) for group in groups.items())


def _group(body: Reader) -> ResourceGroup:
    covered = body / "coveredResources"
    flavors = (body / "flavors").items()
    return ResourceGroup(
        at=body.at,
        covered=covered.texts(),
        flavors=tuple(_flavor(flavor) for flavor in flavors),
        origins={"covered": covered.at},
    )


def _flavor(body: Reader) -> FlavorQuotas:
    resources = (body / "resources").items()
    quotas = (_quota(resource) for resource in resources)
    return FlavorQuotas(
        at=body.at,
        flavor=(body / "name").word(),
        quotas=tuple(quota for quota in quotas if quota),
        origins={"flavor": (body / "name").at},
    )


def _quota(body: Reader) -> Quota | None:
    nominal = body / "nominalQuota"
    lending = body / "lendingLimit"
    borrowing = body / "borrowingLimit"
    amount = nominal.quantity()
    if amount is None:
        return None
    return Quota(
        at=body.at,
        resource=(body / "name").word(),
        nominal=amount,
        borrowing=borrowing.quantity(),
        lending=lending.quantity(),
        origins={"nominal": nominal.at, "borrowing": borrowing.at, "lending": lending.at},
    )


def _selector(body: Reader) -> dict[str, tuple[str, ...]] | None:
    """Label keys with the values that match; no values where only a cluster knows them (operators other than In)."""
    if not body:
        return None
    labels = (body / "matchLabels").strings()
    selector: dict[str, tuple[str, ...]] = {}
    for key, value in labels.items():
        selector[key] = (value,)
    for expression in (body / "matchExpressions").items():
        key = (expression / "key").word()
        selector[key] = ()
        if (expression / "operator").value == "In":
            selector[key] = (expression / "values").texts()
    return selector


def _excluded(body: Reader) -> dict[str, tuple[str, ...]]:
    """Label keys with the values that a namespace must not have."""
    return {
        (expression / "key").word(): (expression / "values").texts()
        for expression in (body / "matchExpressions").items()
        if (expression / "operator").value == "NotIn"
    }


def local_queue(body: Reader) -> Iterator[PlanItem]:
    """LocalQueue."""
    target = body.follow("spec", "clusterQueue")
    policy = body.follow("spec", "stopPolicy")
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


def priority(body: Reader) -> Iterator[PlanItem]:
    """WorkloadPriorityClass."""
    value = (body / "value").integer()
    if value is not None:
        yield WorkloadPriority(
            at=body.at, name=name_of(body), value=value, description=(body / "description").word()
        )


def configuration(body: Reader) -> Iterator[PlanItem]:
    """The manager's Configuration, as an object or out of a chart's values (then places are the values')."""
    ready = body / "waitForPodsReady"
    strategy = ready / "requeuingStrategy"
    backoff = (strategy / "backoffBaseSeconds").integer()
    resources = body / "resources"
    fair = body / "fairSharing"
    is_off = (fair / "enable").flag() is False  # v1beta1: `enable`
    is_fair = bool(fair) and not is_off
    quota_check = (resources / "quotaCheckStrategy").value
    transformed = [
        (transformation / "input").word()
        for transformation in (resources / "transformations").items()
    ]
    yield QueueManager(
        at=body.at,
        fair_sharing=is_fair,
        preemption_strategies=(fair / "preemptionStrategies").texts(),
        transformed=tuple(transformed),
        pods_ready=(ready / "timeout").duration(),
        recovery=(ready / "recoveryTimeout").duration(),
        frameworks=body.follow("integrations", "frameworks").texts(),
        external_frameworks=body.follow("integrations", "externalFrameworks").texts(),
        requeue_backoff=Duration(backoff) if backoff is not None else None,
        requeue_limit=(strategy / "backoffLimitCount").integer(),
        excluded_prefixes=(resources / "excludeResourcePrefixes").texts(),
        ignore_undeclared=quota_check == "IgnoreUndeclared",
        origins={
            "external_frameworks": body.follow("integrations", "externalFrameworks").at,
            "pods_ready": (ready / "timeout").at,
            "recovery": (ready / "recoveryTimeout").at,
            "fair_sharing": fair.at,
            "frameworks": body.follow("integrations", "frameworks").at,
        },
    )


def installed(body: Reader) -> Iterator[PlanItem]:
    """The manager's configuration in the HelmRelease that installs Kueue."""
    config = body.follow("spec", "values", "managerConfig", "controllerManagerConfigYaml")
    if config.text():
        parsed = embedded(config.word())
        if isinstance(parsed, dict):
            yield from configuration(Reader(parsed, config.at))


_GROUP, CONFIGURATION = "kueue.x-k8s.io", "config.kueue.x-k8s.io"
KINDS = {
    f"{_GROUP}/Topology": topology,
    f"{_GROUP}/ResourceFlavor": flavor,
    f"{_GROUP}/Cohort": cohort,
    f"{_GROUP}/ClusterQueue": cluster_queue,
    f"{_GROUP}/LocalQueue": local_queue,
    f"{_GROUP}/WorkloadPriorityClass": priority,
    f"{CONFIGURATION}/Configuration": configuration,
    "helm.toolkit.fluxcd.io/HelmRelease": installed,
}
