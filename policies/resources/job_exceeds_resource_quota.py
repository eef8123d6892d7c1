from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from trainyard.eks.teams.plan import ResourceQuota
from trainyard.judge.model.fit import exceeds_node, exceeds_pool, quota_shortfall
from trainyard.judge.model.gangs import asked_by, limited_to, pod_sets
from trainyard.judge.model.pod_set import PodSet
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.units import Quantity


@rule(
    "LIM010",
    gangs=True,
    kubernetes="ResourceQuotas are of namespaces",
    aliases=("job-over-namespace-quota",),
)
def job_exceeds_resource_quota(work: Work, world: World) -> Iterator[Finding]:
    """A job asks for more than the ResourceQuota of its namespace.

    The API server refuses pods beyond a ResourceQuota (Kubernetes, resource quotas): Kueue admits the job and holds
    its quota, and not all of its pods can be created. One with scopes is for some pods only, and not judged.

    ## Fails

        namespaces: [{name: team-a, quota: {accelerators: 16}}]

        namespaces: [{name: team-a, quota: {pods: 1}}]

        apiVersion: v1
        kind: ResourceQuota
        metadata: {name: none, namespace: team-a}
        spec: {hard: {requests.nvidia.com/gpu: 0}}

        apiVersion: v1
        kind: ResourceQuota
        metadata: {name: memory, namespace: team-a}
        spec: {hard: {limits.memory: 3000Gi}}

    ## Passes

        namespaces: [{name: team-a, quota: {accelerators: 32}}]
    """
    quotas = [
        quota
        for quota in world.plan.of(ResourceQuota)
        if quota.namespace == work.namespace and not quota.scoped
    ]
    if work.nodes is None or not quotas:
        return
    at_once = [pods for pods in pod_sets(work) if not pods.initializes]
    count = sum(pods.fewest for pods in at_once)
    sums = list(_sums(at_once))
    for quota in quotas:
        for counted in _OF_PODS:
            pods = quota.hard.get(counted)
            if pods is None or pods >= Quantity.of(count):
                continue
            yield Finding(
                f"{work.title} has {count} pods, and namespace `{quota.namespace}` may have {pods}",
                quota.where("hard") / counted,
                help="raise the quota, or make the job smaller",
                spec_help=f"raise `quota.pods` of namespace `{quota.namespace}`, or lower `nodes` of the job",
            )
        for each in sums:
            key = next((key for key in each.keys if key in quota.hard), None)
            if key is None or each.total <= quota.hard[key] or _too_large(work, world):
                continue
            yield Finding(
                f"{work.title} {each.verb} {each.total} of `{each.resource}`, and namespace "
                f"`{quota.namespace}` may have {quota.hard[key]}",
                quota.where("hard") / key,
                help="raise the quota, or make the job smaller",
                spec_help=f"raise `quota` of namespace `{quota.namespace}`, or lower `nodes` of the job",
            )


_OF_PODS = ("pods", "count/pods")
"""Both count pods (Kubernetes, resource quotas: object count quota)."""


class _Sum(NamedTuple):
    """What all pods of a job have of a resource together, and the keys by which a quota counts it."""

    verb: str
    resource: str
    total: Quantity
    keys: tuple[str, ...]


def _sums(sets: Sequence[PodSet]) -> Iterator[_Sum]:
    for resource, total in asked_by(sets).items():
        yield _Sum("asks for", resource, total, (f"requests.{resource}", resource))
    for resource, total in limited_to(sets).items():
        yield _Sum("is limited to", resource, total, (f"limits.{resource}",))


def _too_large(work: Work, world: World) -> bool:
    """Whether a job does not fit a node, a pool or a queue either, which other rules report."""
    if exceeds_node(work, world) or exceeds_pool(work, world):
        return True
    return quota_shortfall(work, world) is not None
