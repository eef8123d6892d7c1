from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainyard.core.pods.plan import MISSPELT
from trainyard.core.pools.plan import NodeShare
from trainyard.core.queues.plan import Queue
from trainyard.eks.kueue.plan import QueueManager
from trainyard.judge.model.spelling import spec_key
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.places import Route


@rule("QUE001", kubernetes="Slurm counts what its nodes have, and no list of resources", pods=True)
def resource_not_covered(work: Work, world: World) -> Iterator[Finding]:
    """A job asks for a resource that its queue does not cover.

    Kueue admits a workload only if some resource group covers each resource that it asks for, EFA devices and huge
    pages included ("resource vpc.amazonaws.com/efa unavailable in ClusterQueue", kueue v0.19.2): it waits for ever.

    ## Fails

        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        spec:
          resourceGroups:
            - $patch: replace
              coveredResources: [cpu, memory, nvidia.com/gpu, hugepages-2Mi]
              flavors:
                - name: gpu
                  resources:
                    - {name: cpu, nominalQuota: 360}
                    - {name: memory, nominalQuota: 4000Gi}
                    - {name: nvidia.com/gpu, nominalQuota: 32}
                    - {name: hugepages-2Mi, nominalQuota: 20Gi}

        nodePools: [{name: gpu, instanceTypes: [g5.2xlarge]}]
        jobs: [{name: llama, resources: {hugePages: 1Gi, memory: 16Gi}}]

    ## Passes

        jobs: [{name: llama}]
    """
    queue = work.queue
    manager = world.plan.one(QueueManager)
    if queue is None or not queue.groups:
        return
    if manager is not None and manager.ignore_undeclared:
        return
    # EFA004 reports misspelled names.
    covered = {MISSPELT.get(name, name) for name in queue.covered}
    covered |= queue.covered
    lacking = []
    for name in _asked_resources(work):
        if name in covered:
            continue
        if not _is_excluded(name, covered, manager):
            lacking.append(name)
    if not lacking:
        return
    names = listed(lacking, " and ")
    # The queues of a spec cover what its pools offer.
    nowhere = [name for name in lacking if world.plan.closed and not _is_offered(work, world, name)]
    at, spec_help = _place(queue), ""
    if nowhere:
        at = work.place(nowhere[0])
        keys = listed([spec_key(name) for name in nowhere], " and ")
        spec_help = f"remove {keys} of `resources`: no node of its pool is known to have any"
    yield Finding(
        f"{work.title} asks for {names}, which queue `{queue.name}` does not cover",
        at,
        label="the job is never admitted",
        help=f"add {names} to `coveredResources`, with a quota in each flavor",
        spec_help=spec_help,
    )


def _place(queue: Queue) -> Route:
    if len(queue.groups) == 1:
        return queue.groups[0].where("covered")
    return queue.where("groups")


def _is_offered(work: Work, world: World, resource: str) -> bool:
    """Whether a node of the job's pools has a resource, of which a patch of the queue then says nothing."""
    shares = [world.plan.named(NodeShare, pool.title) for pool in work.pools]
    return any(share is not None and resource in share.resources for share in shares)


def _asked_resources(work: Work) -> list[str]:
    """The resources that any pod of a job asks for, except misspelled names."""
    amounts = dict(work.pod_asks)
    for _, _, asks in work.others:
        amounts.update(asks)
    asked = [name for name, amount in amounts.items() if amount]
    return [name for name in asked if name not in MISSPELT]


def _is_excluded(name: str, covered: Iterable[str], manager: QueueManager | None) -> bool:
    """Whether Kueue's configuration takes a resource out of quota, or may do so where it is unknown."""
    if manager is None:
        return _summed(name, covered)
    return name.startswith((*manager.excluded_prefixes, *manager.transformed))


def _summed(name: str, covered: Iterable[str]) -> bool:
    """Whether a queue covers what may be made of a resource: Kueue's configuration, which is elsewhere, may turn
    `nvidia.com/gpucores` into `nvidia.com/total-gpucores` (kueue v0.19.2, `resources.transformations`)."""
    domain, _, part = name.rpartition("/")
    prefix = f"{domain}/"
    suffix = f"-{part}"
    return any(resource.startswith(prefix) and resource.endswith(suffix) for resource in covered)
