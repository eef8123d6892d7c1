from __future__ import annotations

from collections.abc import Iterator

from trainyard.extensions.parallelcluster.partitions.plan import ComputeResource, Partition
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity


@rule("SLM003", severity=Severity.WARNING)
def block_type_on_demand(partition: Partition, world: World) -> Iterator[Finding]:
    """A reservation of a type that has a price in Capacity Blocks alone in its Region is used as one on demand.

    Such a type is reserved by a block (EC2 prices, Capacity Blocks pricing: `trainyard catalog`), and nodes of a block
    come up only with `CapacityType: CAPACITY_BLOCK`, `MinCount` as large as `MaxCount`, and no placement group
    (ParallelCluster user guide, launch instances with Capacity Blocks). With `ONDEMAND` EC2 refuses each launch: the
    market of the request is not that of the reservation.

    ## Fails

        Region: ap-southeast-3
        Scheduling:
          Scheduler: slurm
          SlurmQueues:
            - Name: gpu
              CapacityType: ONDEMAND
              ComputeResources:
                - Name: h200
                  InstanceType: p5e.48xlarge
                  CapacityReservationTarget: {CapacityReservationId: cr-0a1b2c3d4e5f60718}
        HeadNode: {InstanceType: m5.xlarge}

    ## Passes

        # as the first that fails, but
        Scheduling: {SlurmQueues: [{CapacityType: CAPACITY_BLOCK}]}

        # as the first that fails, but
        Region: us-west-2
        Scheduling:
          SlurmQueues: [{ComputeResources: [{Name: h100, InstanceType: p5.48xlarge}], CapacityType: null}]
    """
    if partition.capacity != "ONDEMAND":
        return
    for resource in partition.resources:
        if resource.reservation is not None and _only_in_blocks(resource, world):
            name = resource.instance_types[0]
            yield Finding(
                f"partition `{partition.name}` takes its `{name}` of `{resource.reservation}` as `ONDEMAND`, and in "
                f"`{world.region}` it has a price in Capacity Blocks alone",
                partition.where("capacity"),
                label="no node of a block comes up",
                help=f"write `CapacityType: CAPACITY_BLOCK`, `MinCount: {resource.most}`, and no placement group",
                spec_help="write `capacity: {reserved: {…}}` with `capacityBlock`",
            )


def _only_in_blocks(resource: ComputeResource, world: World) -> bool:
    """Whether the Region of the cluster has a price in blocks for all types of a resource, and none on demand."""
    from trainyard.catalog import prices  # few clusters get here

    region = world.region
    if not region or not resource.instance_types:
        return False
    for name in resource.instance_types:
        in_block = prices.block(name, region)
        if in_block is None or in_block.region != region:
            return False
        on_demand = prices.on_demand(world.catalog, name, region)
        if on_demand is not None and on_demand.region == region:
            return False
    return True
