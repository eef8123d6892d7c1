from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pools.plan import FixedPool
from trainyard.judge.model.choices import knows_flavors
from trainyard.judge.model.offers import named_types, nonexistent_type
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.plan.scheduling import INSTANCE_TYPE


@rule("EFA007", gangs=True, aliases=("efa-type-unpinned",), severity=Severity.WARNING)
def efa_across_instance_types(work: Work, world: World) -> Iterator[Finding]:
    """A job of several nodes talks over EFA, and its nodes may be of several instance types.

    Ranks on different types run at the pace of the slowest, and P4d, P4de and DL1 cannot talk EFA with other types
    at all (EC2 user guide, EFA limitations); NCCL's settings are by type too (aws-ofi-nccl 1.21.1).

    ## Fails

        apiVersion: karpenter.sh/v1
        kind: NodePool
        spec:
          template: {spec: {requirements: [
            {key: node.kubernetes.io/instance-type, operator: In, values: [p4d.24xlarge, p4de.24xlarge]}]}}

    ## Passes

        jobs: [{name: llama}]
    """
    if not work.gang or not work.efa:
        return
    if len(work.pools) != 1 or not knows_flavors(work, world):
        return
    pool = work.pools[0]
    types = work.types
    catalog = world.catalog
    if not types and named_types(pool, catalog):
        return  # reported by PLC024
    if not types and nonexistent_type(pool, catalog):
        return  # reported by PLC018
    if isinstance(pool, FixedPool) and pool.block:
        return  # reported by PLC025
    if INSTANCE_TYPE in work.selector:
        return  # the job pins it, though the catalog may not know it
    if len(types) != 1 and (types or pool.instance_types is None):
        several = f"{len(types)} instance types"
        what = several if types else "any instance type that fits"
        yield Finding(
            f"pool `{pool.title}` allows {what}, and job `{work.name}` talks over EFA between its nodes",
            pool.where("instance_types"),
            help="require one `node.kubernetes.io/instance-type`",
        )
