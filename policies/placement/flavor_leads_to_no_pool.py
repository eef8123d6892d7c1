from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.queues.plan import Queue
from trainyard.eks.kueue.plan import Flavor
from trainyard.judge.model.choices import flavors_with_quota, groups_of, meets
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.plan.scheduling import NODEPOOL_LABEL, POOL_LABEL

_PINS = (NODEPOOL_LABEL, POOL_LABEL)


@rule("PLC064", kubernetes="flavors are of Kueue", pods=True)
def flavor_leads_to_no_pool(work: Work, world: World) -> Iterator[Finding]:
    """Kueue may give a job a flavor of its queue whose nodes the job's own selector excludes.

    Kueue holds the node selector and affinity of the pods against a flavor by the label keys that this very flavor has
    (kueue v0.19.2, checkFlavorForPodSets: "Use only this flavor's own label keys"). A job that is pinned by another key
    passes: Kueue adds the flavor's labels to its pods' own, no node has both, and the pods stay Pending while
    they hold the quota.

    ## Fails

        apiVersion: karpenter.sh/v1
        kind: NodePool
        metadata: {name: spare}
        spec: {template: {metadata: {labels: {example.com/pool: spare}}}}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        metadata: {name: spare}
        spec: {nodeLabels: {example.com/pool: spare}}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: research}
        spec:
          resourceGroups:
            - flavors:
                - name: gpu
                - name: spare
                  resources:
                    - {name: cpu, nominalQuota: 360}
                    - {name: memory, nominalQuota: 4000Gi}
                    - {name: nvidia.com/gpu, nominalQuota: 32}
                    - {name: vpc.amazonaws.com/efa, nominalQuota: 16}
                    - {name: hugepages-2Mi, nominalQuota: 20Gi}

    ## Passes

        nodePools:
          - {name: gpu, capacity: {reserved: {reservations: [{id: cr-0a1b2c3d4e5f60718}]}}}
          - {name: spare, instanceTypes: [g6e.12xlarge], zones: [us-west-2b], nodes: {max: 4}}
        queues: [{name: research, quota: [{pool: gpu}, {pool: spare, nodes: 2}]}]
        jobs: [{name: llama, nodes: 1}]
    """
    if work.queue is None or work.pod is None:
        return
    if not work.choices:
        return
    selector, terms = work.selector, work.pod.pools
    keys = {key for key in _PINS if key in selector}
    keys.update(requirement.key for term in terms for requirement in term)
    if not keys:
        return
    others = list(_without(work, work.queue, world, keys))
    if not others:
        return
    selected = [pool for pool in world.pools if world.may_match(pool, selector)]
    pools = [pool for pool in selected if meets(world, pool, terms)]
    for flavor in others:
        if any(world.may_match(pool, flavor.node_labels) for pool in pools):
            continue
        key = min(keys)
        place = work.pod.where("pools")
        if key in selector:
            place = work.where_selected(key)
        queue = work.queue.name
        yield Finding(
            f"{work.title} is pinned by `{key}`, and flavor `{flavor.name}` of queue `{queue}` has no "
            "such label: Kueue takes it for one that fits",
            place,
            label="its pods stay Pending if the job is admitted by that flavor",
            help=f"give all flavors of the queue the label `{key}`, or let the job select by one that all have",
        )
        return


def _without(work: Work, queue: Queue, world: World, keys: set[str]) -> Iterator[Flavor]:
    """The flavors that the job may get and that have none of the keys it is pinned by."""
    for group in groups_of(queue, work.asks):
        for quotas in flavors_with_quota(queue, group, work.asks):
            flavor = world.plan.named(Flavor, quotas.flavor)
            if flavor is None or not flavor.node_labels:
                continue
            if keys.isdisjoint(flavor.node_labels) and world.pools_of(flavor):
                yield flavor
