from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.nodes.plan import NodePool
from trainyard.judge.model.offers import IN_SMALL_LETTERS, named_types, unmet_requirements
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.plan.scheduling import ARCH


@rule("PLC024", aliases=("requirements-leave-no-type",))
def requirements_match_no_instance_type(pool: NodePool, world: World) -> Iterator[Finding]:
    """The requirements of a node pool leave no instance type.

    A type must meet all requirements (karpenter.sh/v1 NodePool `requirements`): a name with an architecture, a
    category, a size or a GPU count that it does not have leaves none, and the pool never gets a node.

    ## Fails

        apiVersion: karpenter.sh/v1
        kind: NodePool
        spec:
          template: {spec: {requirements: [{key: karpenter.k8s.aws/instance-category, operator: In, values: [g]}]}}

    ## Passes

        apiVersion: karpenter.sh/v1
        kind: NodePool
        spec:
          template: {spec: {requirements: [{key: karpenter.k8s.aws/instance-category, operator: In, values: [p]}]}}
    """
    types = named_types(pool, world.catalog)
    if not types or world.types(pool):
        return
    instance = types[0]
    broken = unmet_requirements(pool, instance)[0]
    if broken.key == ARCH and not {"amd64", "arm64"} & set(broken.values):
        return  # reported as an architecture that is none
    if broken.key in IN_SMALL_LETTERS and any(text != text.lower() for text in broken.values):
        return  # reported as a value that is never written so
    said = f"{broken.key} {broken.operator} {', '.join(broken.values)}".rstrip()
    index = pool.requirements.index(broken)
    yield Finding(
        f"no instance type meets the requirements of pool `{pool.title}`: `{instance.name}` is not `{said}`",
        pool.where("requirements") / index / "values",
        label="no node is ever launched",
        help=f"remove the requirement on `{broken.key}`, or change it",
    )
