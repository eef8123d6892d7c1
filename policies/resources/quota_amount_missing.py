from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pods.plan import Container
from trainyard.eks.teams.plan import ResourceQuota
from trainyard.judge.model.values import value_at
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.diagnostics.words import numbered

_COUNTED = {
    "cpu": ("requests", "cpu"),
    "memory": ("requests", "memory"),
    "requests.cpu": ("requests", "cpu"),
    "requests.memory": ("requests", "memory"),
    "limits.cpu": ("limits", "cpu"),
    "limits.memory": ("limits", "memory"),
}
"""Totals of a quota, and what each container must say where there is one."""


@rule("LIM043", kubernetes="ResourceQuotas are of namespaces", pods=True)
def quota_amount_missing(work: Work, world: World) -> Iterator[Finding]:
    """A container does not say an amount that the ResourceQuota of its namespace counts.

    Where a quota has a total of CPU or memory, every container and init container must say its own, or the API server
    refuses the pod: "must specify limits.memory" (Kubernetes 1.36, pkg/quota/v1/evaluator/core/pods.go). A LimitRange
    of the namespace may give a default. Kueue admits the job and holds its quota, and no pod is created.

    ## Fails

        apiVersion: v1
        kind: ResourceQuota
        metadata: {name: memory, namespace: team-a}
        spec: {hard: {limits.memory: 8Ti}}
        ---
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: ClusterTrainingRuntime
        spec: {template: {spec: {replicatedJobs: [{name: node, template: {spec: {template: {spec: {
          containers: [{name: logs, image: "bit:4.1"}]}}}}}]}}}

    ## Passes

        apiVersion: v1
        kind: ResourceQuota
        metadata: {name: memory, namespace: team-a}
        spec: {hard: {limits.memory: 8Ti}}
        ---
        apiVersion: v1
        kind: LimitRange
        metadata: {name: memory, namespace: team-a}
        spec: {limits: [{type: Container, default: {memory: 1Gi}}]}
        ---
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: ClusterTrainingRuntime
        spec: {template: {spec: {replicatedJobs: [{name: node, template: {spec: {template: {spec: {
          containers: [{name: logs, image: "bit:4.1"}]}}}}}]}}}
    """
    if work.pod is None:
        return
    for quota in world.plan.of(ResourceQuota):
        if quota.namespace != work.namespace or quota.scoped:
            continue
        for field, resource in (_COUNTED[key] for key in quota.hard if key in _COUNTED):
            silent = [each for each in work.pod.all_containers if _lacks(each, field, resource)]
            if silent and not _is_given(field, resource, work.namespace, world):
                names = listed([each.name for each in silent], " and ")
                which = numbered(len(silent), "container").partition(" ")[2]
                yield Finding(
                    f"{which} {names} of {work.title} says no `{field}.{resource}`, and the quota of namespace "
                    f"`{quota.namespace}` counts it",
                    silent[0].where(field),
                    label="no pod is created",
                    help=f"write `{resource}` under `{field}` of each container",
                )
                return


def _lacks(container: Container, field: str, resource: str) -> bool:
    """Whether a container says nothing of an amount; a limit is a request, too."""
    if not container.unread.isdisjoint(("requests", "limits")):
        return False
    asked = resource in container.requests and field == "requests"
    return not asked and resource not in container.limits


def _is_given(field: str, resource: str, namespace: str, world: World) -> bool:
    """Whether a LimitRange of the namespace gives a default."""
    for manifest in world.limit_ranges.get(namespace, ()):
        items = value_at(manifest.body, "spec", "limits")
        for item in items if isinstance(items, list) else ():
            defaults = [value_at(item, "default")]
            if field == "requests":
                defaults.append(value_at(item, "defaultRequest"))
            if any(isinstance(each, dict) and resource in each for each in defaults):
                return True
    return False
