from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pods.plan import ACCELERATORS
from trainyard.core.pools.plan import NodeShare
from trainyard.judge.model.fit import exceeds_node, exceeds_pool, quota_shortfall
from trainyard.judge.model.gangs import pod_sets
from trainyard.judge.model.spelling import spec_key
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics.words import numbered
from trainyard.plan import Quantity


@rule("QUE005", gangs=True, aliases=("gang-over-quota",))
def gang_exceeds_quota(work: Work, world: World) -> Iterator[Finding]:
    """A job asks for more than its queue can ever admit.

    All nodes of a job are admitted together, into one flavor (kueue v0.19.2). Beyond the nominal quota and what may
    be borrowed from the cohort the job waits for ever; its only condition is Suspended. Of a cohort with a member that
    may be elsewhere nothing is reported.

    A quota of a spec counts whole nodes, each with what jobs can get of the smallest type of its pool. A job that asks
    for more than that of a node is no matter of how many nodes there are.

    ## Fails

        queues: [{name: research, quota: [{pool: gpu, nodes: 3}]}]

        nodePools: [{name: gpu, instanceTypes: [m7i.4xlarge, r7i.4xlarge]}]
        jobs: [{name: llama, resources: {memory: 100Gi}}]

        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: research}
        spec: {cohortName: all, resourceGroups: [
          {flavors: [{name: gpu, resources: [{name: nvidia.com/gpu, nominalQuota: 16}]}]}]}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: serving}
        spec: {cohortName: all, namespaceSelector: {}, resourceGroups: [
          {coveredResources: [nvidia.com/gpu], flavors: [
            {name: gpu, resources: [{name: nvidia.com/gpu, nominalQuota: 8}]}]}]}

    ## Passes

        queues: [{name: research, quota: [{pool: gpu, nodes: 4}]}]

        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: research}
        spec: {cohortName: all, resourceGroups: [
          {flavors: [{name: gpu, resources: [{name: nvidia.com/gpu, nominalQuota: 16}]}]}]}
    """
    lack = quota_shortfall(work, world)
    if lack is None or work.queue is None:
        return
    if exceeds_node(work, world) or exceeds_pool(work, world):
        return  # LIM001, LIM002 or LIM003 reports it
    quota, asked, most = lack
    counted = _counted(work, world, quota.resource)
    if counted is not None:
        yield _above_a_node(work, work.queue.name, quota.resource, counted)
        return
    # A job that fits by its accelerators is not too large: the quota of something else is too small.
    odd = work.accelerator is not None and quota.resource not in ACCELERATORS
    if odd:
        at = quota.where("nominal")
    else:
        at = work.where("nodes")
    notes = list(_shares(work, quota.resource))
    if work.queue.cohort is not None and not world.plan.closed:
        notes.append(f"with all that cohort `{work.queue.cohort}` of these files lends it")
    queue = work.queue.name
    yield Finding(
        f"{work.title} asks for {asked} of `{quota.resource}`, and queue `{queue}` can admit at most "
        f"{most}",
        at,
        label="it waits for ever",
        help="make the job smaller, or the quota larger",
        spec_help=f"lower `nodes` of the job, or raise those of `quota` in queue `{queue}`",
        notes=tuple(notes),
    )


def _counted(work: Work, world: World, resource: str) -> Quantity | None:
    """What a quota of whole nodes counts for one, where a node of the job asks for more."""
    shares = []
    for pool in work.pools:
        share = world.plan.named(NodeShare, pool.title)
        if share is None or resource not in share.resources:
            return None
        shares.append(share.resources[resource])
    asked = work.pod_asks.get(resource)
    most = max(shares, default=None)
    if asked is None or most is None or asked <= most:
        return None
    return most


def _above_a_node(work: Work, queue: str, resource: str, counted: Quantity) -> Finding:
    asked = work.pod_asks[resource]
    key = spec_key(resource)
    return Finding(
        f"{work.title} asks for {asked} of `{resource}` a node, and the quota of queue `{queue}` counts "
        f"{counted} for one",
        work.place(resource),
        label="it waits for ever",
        help=f"ask for at most {counted}",
        spec_help=f"write `resources.{key}` of at most {counted}, or remove it to have it derived",
    )


def _shares(work: Work, resource: str) -> Iterator[str]:
    """What each set of pods asks for, where there are several."""
    asking = [pods for pods in pod_sets(work) if pods.asks.get(resource)]
    if len(asking) < 2:
        return
    for pods in asking:
        yield f"`{pods.name}`: {numbered(pods.fewest, 'pod')} of {pods.asks[resource]}"
