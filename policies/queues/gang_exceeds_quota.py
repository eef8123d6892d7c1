from __future__ import annotations

from collections.abc import Iterator

from compiler.core.pods.plan import ACCELERATORS
from compiler.diagnostics.words import numbered
from compiler.model.fit import exceeds_node, exceeds_pool, quota_shortfall
from compiler.model.gangs import pod_sets
from compiler.model.work import Work
from compiler.policy.rule import Finding, rule
from compiler.policy.world import World


@rule("QUE005", gangs=True, aliases=("gang-over-quota",))
def gang_exceeds_quota(work: Work, world: World) -> Iterator[Finding]:
    """A job asks for more than its queue can ever admit.

    All nodes of a job are admitted together, into one flavor (kueue v0.19.2). Beyond the nominal quota and what may
    be borrowed from the cohort the job waits for ever; its only condition is Suspended. Of a cohort with a member that
    may be elsewhere nothing is reported.

    ## Fails

        queues: [{name: research, quota: [{pool: gpu, nodes: 3}]}]

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
    # A job that fits by its accelerators is not too large: the quota of something else is too small.
    counted = quota.resource in ACCELERATORS
    odd = work.accelerator is not None and not counted
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


def _shares(work: Work, resource: str) -> Iterator[str]:
    """What each set of pods asks for, where there are several."""
    asking = [pods for pods in pod_sets(work) if pods.asks.get(resource)]
    if len(asking) < 2:
        return
    for pods in asking:
        yield f"`{pods.name}`: {numbered(pods.fewest, 'pod')} of {pods.asks[resource]}"
