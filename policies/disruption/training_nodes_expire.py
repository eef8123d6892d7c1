from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.nodes.plan import NodePool
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.output.manifest import placeholder


@rule("HLT011", aliases=("nodes-expire",), severity=Severity.WARNING)
def training_nodes_expire(pool: NodePool, world: World) -> Iterator[Finding]:
    """Nodes of a training pool expire.

    Expiration starts to drain a node at its age, regardless of its pods and of the disruption budgets; the
    default is 720h (karpenter.sh/v1 NodePool `expireAfter`). A job that runs longer hangs in the drain or is
    killed. Nodes of EKS Auto Mode always expire: what counts there is how long a job then goes on (HLT045).

    ## Fails

        apiVersion: karpenter.sh/v1
        kind: NodePool
        spec: {template: {spec: {expireAfter: 720h}}}

    ## Passes

        apiVersion: karpenter.sh/v1
        kind: NodePool
        spec: {template: {spec: {expireAfter: Never}}}
    """
    if pool.auto:
        return  # they always do, at 504h: HLT045
    is_whole = bool(pool.requirements)  # a patch has what it changes alone
    after = pool.expire_after or ("720h" if is_whole else "Never")
    if after != "Never" and not placeholder(after) and world.accelerated(pool):
        yield Finding(
            f"nodes of pool `{pool.title}` are drained after {after}",
            pool.where("expire_after"),
            help="write `expireAfter: Never`",
        )
