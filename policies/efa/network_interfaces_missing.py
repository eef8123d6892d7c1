from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.nodes.plan import NodePool
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World


@rule("EFA005", aliases=("interfaces-missing",))
def network_interfaces_missing(pool: NodePool, world: World) -> Iterator[Finding]:
    """A pool needs `networkInterfaces` for its EFA, and its node class has none.

    Karpenter attaches EFA by itself only to nodes of dynamic pools, and to p6-b300 and p6e-gb200 in a layout that
    EC2 refuses, since EFA is not on their card 0 (karpenter-provider-aws v1.14.1 launchtemplate.go;
    aws-parallelcluster #7143). Nodes of static pools come up without EFA.

    ## Fails

        apiVersion: karpenter.sh/v1
        kind: NodePool
        spec:
          replicas: 4
          limits: {nodes: "4", nvidia.com/gpu: null}
          disruption: {consolidationPolicy: null}

    ## Passes

        nodePools: [{name: gpu, nodes: 4}]
    """
    node_class, types = world.node_class(pool), world.types(pool)
    if node_class is None or node_class.interfaces or not types:
        return
    families = ("p6-b300", "p6e-gb200")
    special = next((instance for instance in types if instance.family in families), None)
    asking = next((work for work in world.works_on(pool) if work.efa), None)
    if special is not None:
        why = f"`{special.name}` comes up with a wrong layout"
    elif pool.replicas is not None and asking is not None:
        why = f"nodes of a static pool come up without EFA, which job `{asking.name}` asks for"
    else:
        return
    instance = special or types[0]
    yield Finding(
        f"node class `{node_class.name}` of pool `{pool.title}` has no `networkInterfaces`",
        node_class.where("interfaces"),
        label=why,
        help=f"list the interfaces of `{instance.name}`: card 0 device 0 `interface`, the others `efa-only`",
    )
