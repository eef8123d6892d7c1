"""Lower: Kueue's flavors, queues, cohorts, topologies and priorities (v1beta2, Kueue 0.19.2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.core.queues.plan import FlavorQuotas, Quota, ResourceGroup
from trainyard.eks.kueue.plan import (
    ClusterQueue,
    Cohort,
    Flavor,
    LocalQueue,
    Preemption,
    Topology,
    WorkloadPriority,
)
from trainyard.output.artifact import Places
from trainyard.output.lowering.body import (
    fields_given,
    manifest_in,
    object_head,
    taint_bodies,
    toleration_bodies,
)
from trainyard.output.manifest import Body, Manifest
from trainyard.plan import Plan, Quantity

API = "kueue.x-k8s.io/v1beta2"
FOLDER = "queues"


def lower(plan: Plan) -> Iterator[Manifest]:
    """Everything of the queues but the manager's configuration, which its Helm release carries."""
    for topology in plan.of(Topology):
        yield manifest_in(FOLDER, topology_body(topology), topology.at)
    for flavor in plan.of(Flavor):
        places: Places = {
            ("spec", "nodeLabels"): flavor.where("node_labels"),
            ("spec", "topologyName"): flavor.where("topology"),
        }
        yield manifest_in(FOLDER, flavor_body(flavor), flavor.at, places)
    for cohort in plan.of(Cohort):
        yield manifest_in(FOLDER, cohort_body(cohort), cohort.at, cohort_origins(cohort))
    for queue in plan.of(ClusterQueue):
        yield manifest_in(FOLDER, cluster_queue_body(queue), queue.at, queue_origins(queue))
    for local in plan.of(LocalQueue):
        body = local_queue_body(local)
        yield manifest_in(
            FOLDER, body, local.at, {("metadata", "namespace"): local.where("namespace")}
        )
    for priority in plan.of(WorkloadPriority):
        yield manifest_in(FOLDER, priority_body(priority), priority.at)


def topology_body(topology: Topology) -> Body:
    """Topology."""
    levels = [{"nodeLabel": label} for label in topology.levels]
    return {**object_head(API, "Topology", topology.name), "spec": {"levels": levels}}


def flavor_body(flavor: Flavor) -> Body:
    """ResourceFlavor."""
    spec = fields_given(
        nodeLabels=dict(flavor.node_labels),
        nodeTaints=taint_bodies(flavor.node_taints),
        tolerations=toleration_bodies(flavor.tolerations),
        topologyName=flavor.topology,
    )
    return {**object_head(API, "ResourceFlavor", flavor.name), "spec": spec}


def cohort_body(cohort: Cohort) -> Body:
    """Cohort."""
    spec = fields_given(parentName=cohort.parent, fairSharing=_fair_sharing(cohort.weight))
    return {**object_head(API, "Cohort", cohort.name), "spec": spec}


def cohort_origins(cohort: Cohort) -> Places:
    """Where the parts of a Cohort come from."""
    return {
        ("spec", "parentName"): cohort.where("parent"),
        ("spec", "fairSharing"): cohort.where("weight"),
    }


def _fair_sharing(weight: Quantity | None) -> Body | None:
    if weight is None:
        return None
    return {"weight": str(weight)}


def cluster_queue_body(queue: ClusterQueue) -> Body:
    """ClusterQueue. Resources stand in the order of coveredResources, as Kueue's webhook wants them. Between fields
    that different words of the spec set stands a line that none of them changes."""
    spec: Body = {"queueingStrategy": queue.strategy, "preemption": _preemption(queue.preemption)}
    if queue.cohort:
        spec["cohortName"] = queue.cohort
    if queue.weight is not None:
        spec["fairSharing"] = _fair_sharing(queue.weight)
    if queue.fungibility is not None:
        spec["flavorFungibility"] = {
            "whenCanBorrow": queue.fungibility.when_can_borrow,
            "whenCanPreempt": queue.fungibility.when_can_preempt,
            **fields_given(preference=queue.fungibility.preference),
        }
    assert queue.namespace_selector is not None
    spec["namespaceSelector"] = _selector(queue.namespace_selector)
    spec["resourceGroups"] = [_group(group) for group in queue.groups]
    if queue.stop_policy != "None":
        spec["stopPolicy"] = queue.stop_policy
    return {**object_head(API, "ClusterQueue", queue.name), "spec": spec}


def _selector(labels: Mapping[str, tuple[str, ...]]) -> Body:
    expressions = [
        {"key": key, "operator": "In", "values": list(values)} for key, values in labels.items()
    ]
    return fields_given(matchExpressions=expressions)


def _group(group: ResourceGroup) -> Body:
    return {
        "coveredResources": list(group.covered),
        "flavors": [_flavor(flavor) for flavor in group.flavors],
    }


def _preemption(preemption: Preemption) -> Body:
    body = {"withinClusterQueue": preemption.within, "reclaimWithinCohort": preemption.reclaim}
    borrowing = fields_given(
        policy=preemption.borrow_within_cohort,
        maxPriorityThreshold=preemption.max_priority_threshold,
    )
    if borrowing != {"policy": "Never"}:
        return {**body, "borrowWithinCohort": borrowing}
    return body


def _flavor(flavor: FlavorQuotas) -> Body:
    return {"name": flavor.flavor, "resources": [_quota(quota) for quota in flavor.quotas]}


def _quota(quota: Quota) -> Body:
    body: Body = {"name": quota.resource, "nominalQuota": str(quota.nominal)}
    if quota.borrowing is not None:
        body["borrowingLimit"] = str(quota.borrowing)
    if quota.lending is not None:
        body["lendingLimit"] = str(quota.lending)
    return body


def queue_origins(queue: ClusterQueue) -> Places:
    """Where the parts of a ClusterQueue come from, down to each quota."""
    places: Places = {
        ("spec", "cohortName"): queue.where("cohort"),
        ("spec", "namespaceSelector"): queue.where("namespace_selector"),
        ("spec", "resourceGroups"): queue.where("groups"),
        ("spec", "queueingStrategy"): queue.where("strategy"),
        ("spec", "preemption"): queue.where("preemption"),
        ("spec", "flavorFungibility"): queue.where("fungibility"),
        ("spec", "fairSharing"): queue.where("weight"),
        ("spec", "stopPolicy"): queue.where("stop_policy"),
    }
    for group_index, group in enumerate(queue.groups):
        for flavor_index, flavor in enumerate(group.flavors):
            here = ("spec", "resourceGroups", group_index, "flavors", flavor_index)
            places[here] = flavor.at
            for index, quota in enumerate(flavor.quotas):
                resource = (*here, "resources", index)
                places[(*resource, "nominalQuota")] = quota.where("nominal")
                places[(*resource, "borrowingLimit")] = quota.where("borrowing")
                places[(*resource, "lendingLimit")] = quota.where("lending")
    return places


def local_queue_body(queue: LocalQueue) -> Body:
    """LocalQueue."""
    return {
        **object_head(API, "LocalQueue", queue.name, queue.namespace),
        "spec": {"clusterQueue": queue.cluster_queue},
    }


def priority_body(priority: WorkloadPriority) -> Body:
    """WorkloadPriorityClass, which has no spec."""
    return {
        **object_head(API, "WorkloadPriorityClass", priority.name),
        "value": priority.value,
        "description": priority.description,
    }
