from __future__ import annotations

from collections.abc import Iterable, Iterator

from compiler.diagnostics.diagnostic import listed
from compiler.plan.jobs import MISSPELT
from compiler.policy.rule import Finding, rule
from compiler.policy.work import Work
from compiler.policy.world import World


@rule("QUE001", pods=True)
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

    ## Passes

        jobs: [{name: llama}]
    """
    queue, manager = work.queue, world.plan.queue_manager
    if (
        queue is None
        or not queue.groups
        or (manager is not None and manager.ignore_undeclared)
    ):
        return
    prefixes = (
        (*manager.excluded_prefixes, *manager.transformed)
        if manager is not None
        else ()
    )
    covered = queue.covered | {
        MISSPELT[resource] for resource in queue.covered if resource in MISSPELT
    }  # reported by EFA004
    asks = {
        **work.asks,
        **{
            name: amount
            for _, _, beside in work.others
            for name, amount in beside.items()
        },
    }
    lacking = [
        name
        for name, asked in asks.items()
        if asked
        and name not in covered
        and name not in MISSPELT
        and not (prefixes and name.startswith(prefixes))
        and not (manager is None and _summed(name, covered))
    ]
    if lacking:
        names = listed(lacking, " and ")
        yield Finding(
            f"{work.title} asks for {names}, which queue `{queue.name}` does not cover",
            queue.groups[0].where("covered")
            if len(queue.groups) == 1
            else queue.where("groups"),
            label="the job is never admitted",
            help=f"add {names} to `coveredResources`, with a quota in each flavor",
        )


def _summed(name: str, covered: Iterable[str]) -> bool:
    """Whether a queue covers what may be made of a resource: Kueue's configuration, which is elsewhere, may turn
    `nvidia.com/gpucores` into `nvidia.com/total-gpucores` (kueue v0.19.2, `resources.transformations`)."""
    domain, _, part = name.rpartition("/")
    return any(
        resource.startswith(f"{domain}/") and resource.endswith(f"-{part}")
        for resource in covered
    )
