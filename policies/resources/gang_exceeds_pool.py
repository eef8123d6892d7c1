from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pools.plan import titles
from trainyard.judge.model.fit import pool_room, too_large, too_large_on
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics.diagnostic import listed


@rule("LIM003", gangs=True, aliases=("gang-over-pool",))
def gang_exceeds_pool(work: Work, world: World) -> Iterator[Finding]:
    """A job needs more nodes than its pool may have.

    All nodes of a job run at once; Karpenter launches none beyond `limits` or `replicas` of the NodePool
    (karpenter.sh/v1): some pods stay Pending, and the others wait for them at full price.

    ## Fails

        jobs: [{name: llama, nodes: 5}]

        apiVersion: karpenter.sh/v1
        kind: NodePool
        spec: {limits: {nvidia.com/gpu: 4}}
        ---
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        spec: {trainer: {numNodes: 1, resourcesPerNode: {requests: {vpc.amazonaws.com/efa: null, hugepages-2Mi: null},
          limits: {vpc.amazonaws.com/efa: null, hugepages-2Mi: null}}}}

    ## Passes

        jobs: [{name: llama, nodes: 4}]
    """
    if not too_large(work, world):
        return
    most = pool_room(work, world)
    pool = work.pools[0]
    single = len(titles(work.pools)) == 1
    names = listed(titles(work.pools))
    # Where several jobs are too large, the limit of the pool is the mistake.
    if single and pool.limits and too_large_on(pool, world) > 1:
        yield Finding(
            f"pool {names} has room for {most} nodes at once, and {work.title} needs more",
            pool.where("limits"),
            label="it never starts",
            help="raise the limit of the pool",
            spec_help=_raise(work, names),
        )
        return
    if most:
        lower = f"lower the job to {_nodes(most)}, or "
    else:
        lower = ""
    if single:
        has = f"pool {names} has"
    else:
        has = f"pools {names} have"
    needed = _nodes(work.nodes)
    yield Finding(
        f"{work.title} needs {needed} at once, and {has} room for {most}",
        work.where("nodes"),
        label="it never starts",
        help=f"{lower}raise the limit of the pool",
        spec_help=f"{lower}{_raise(work, names)}",
    )


def _raise(work: Work, names: str) -> str:
    """A partition of Slurm has the nodes of a queue's quota, where no accounting shares them."""
    if work.has_pods:
        return f"raise `nodes` of pool {names}"
    return f"raise `nodes` of pool {names}, or of its quota"


def _nodes(count: int | None) -> str:
    if count == 1:
        return "1 node"
    return f"{count} nodes"
