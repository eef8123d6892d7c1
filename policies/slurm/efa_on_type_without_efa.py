from __future__ import annotations

from collections.abc import Iterator

from trainyard.extensions.parallelcluster.partitions.plan import Partition
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World


@rule("SLM002")
def efa_on_type_without_efa(partition: Partition, world: World) -> Iterator[Finding]:
    """A compute resource enables EFA for an instance type that has none.

    ParallelCluster refuses the configuration (aws-parallelcluster 3.16.1, EfaValidator). Which types have EFA: EC2,
    DescribeInstanceTypes, EfaSupported.

    ## Fails

        Scheduling:
          Scheduler: slurm
          SlurmQueues:
            - Name: gpu
              ComputeResources: [{Name: a, InstanceType: g6.xlarge, Efa: {Enabled: true}}]

    ## Passes

        Scheduling:
          Scheduler: slurm
          SlurmQueues:
            - Name: gpu
              ComputeResources:
                - {Name: a, InstanceType: p5.48xlarge, Efa: {Enabled: true}}
                - {Name: b, InstanceType: g6.xlarge}
    """
    for resource in partition.resources:
        if not resource.efa:
            continue
        for name in resource.instance_types:
            instance = world.catalog.instance(name)
            if instance is None or "efa_interfaces" in instance.unknown:
                continue
            if not instance.efa_interfaces:
                yield Finding(
                    f"`{resource.name}` of partition `{partition.name}` enables EFA, and `{name}` has none",
                    resource.where("efa"),
                    label="ParallelCluster refuses it",
                    help="remove `Efa`, or take a type with EFA (`trainyard catalog efa`)",
                )
