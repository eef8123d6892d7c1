from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pools.plan import Pool
from trainyard.judge.model.offers import nonexistent_type, other_sizes, place
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.plan.scheduling import INSTANCE_TYPE


@rule("PLC018")
def unknown_instance_type(pool: Pool, world: World) -> Iterator[Finding]:
    """A node pool names a size that its instance family does not have.

    Karpenter offers what EC2 has; a type that does not exist leaves the pool without any, and nothing says so (catalog:
    EC2 DescribeInstanceTypes). Families that the catalog does not know are not judged.

    ## Fails

        apiVersion: karpenter.sh/v1
        kind: NodePool
        spec:
          template: {spec: {requirements: [
            {key: node.kubernetes.io/instance-type, operator: In, values: [p4d.48xlarge]}]}}

    ## Passes

        apiVersion: karpenter.sh/v1
        kind: NodePool
        spec:
          template: {spec: {requirements: [
            {key: node.kubernetes.io/instance-type, operator: In, values: [p4d.24xlarge]}]}}
    """
    for name in pool.instance_types or ():
        known = other_sizes(name, world.catalog)
        if known:
            yield Finding(
                f"there is no instance type `{name}`",
                place(pool, INSTANCE_TYPE, name),
                help=f"the family has {listed(known)}",
            )
    if pool.instance_types is not None:
        return
    missing = nonexistent_type(pool, world.catalog)
    if missing:
        size = next(
            index
            for index, requirement in enumerate(pool.requirements)
            if requirement.key.endswith("/instance-size")
        )
        yield Finding(
            f"there is no instance type `{missing}`",
            pool.where("requirements") / size,
            help=f"the family has {listed(other_sizes(missing, world.catalog))}",
        )
