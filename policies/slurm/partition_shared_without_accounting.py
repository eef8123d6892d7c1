from __future__ import annotations

from collections.abc import Iterator

from trainyard.extensions.parallelcluster.cluster.plan import SlurmCluster
from trainyard.extensions.parallelcluster.partitions.plan import Partition
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.language.diagnostics.words import numbered


@rule("SLM004", severity=Severity.WARNING, params={"nodes": 16, "jobs": 3})
def partition_shared_without_accounting(partition: Partition, world: World) -> Iterator[Finding]:
    """Several jobs share a large partition, and nothing bounds what one of them takes.

    Slurm bounds nodes by account and by QOS, which are kept in the database of accounting (Slurm documentation,
    resource_limits); without one, a partition is the only bound, and whoever submits first has all of it. Reported
    from `nodes` nodes and `jobs` jobs on.

    ## Fails

        # params: {jobs: 2}
        HeadNode: {InstanceType: m5.xlarge}
        Scheduling:
          Scheduler: slurm
          SlurmQueues:
            - Name: gpu
              ComputeResources: [{Name: h100, InstanceType: p5.48xlarge, MaxCount: 80}]
        ---
        #!/bin/bash
        #SBATCH --job-name=small --exclusive --partition=gpu --nodes=11
        srun torchrun train.py
        ---
        #!/bin/bash
        #SBATCH --job-name=large --exclusive --partition=gpu --nodes=14
        srun torchrun train.py

        # params: {nodes: 2, jobs: 1}
        HeadNode: {InstanceType: m5.xlarge}
        Scheduling:
          Scheduler: slurm
          SlurmQueues:
            - Name: gpu
              ComputeResources: [{Name: h100, InstanceType: p5.48xlarge, MaxCount: 2}]
        ---
        #!/bin/bash
        #SBATCH --job-name=small --exclusive --partition=gpu
        srun torchrun train.py

    ## Passes

        # params: {jobs: 1}
        HeadNode: {InstanceType: m5.xlarge}
        Scheduling:
          Scheduler: slurm
          SlurmSettings: {Database: {Uri: "db.example:3306", UserName: slurm, PasswordSecretArn: arn}}
          SlurmQueues:
            - Name: gpu
              ComputeResources: [{Name: h100, InstanceType: p5.48xlarge, MaxCount: 80}]
        ---
        #!/bin/bash
        #SBATCH --job-name=small --exclusive --partition=gpu --nodes=11
        srun torchrun train.py

        # params: {nodes: 81, jobs: 1}
        HeadNode: {InstanceType: m5.xlarge}
        Scheduling:
          Scheduler: slurm
          SlurmQueues:
            - Name: gpu
              ComputeResources: [{Name: h100, InstanceType: p5.48xlarge, MaxCount: 80}]
        ---
        #!/bin/bash
        #SBATCH --job-name=small --exclusive --partition=gpu --nodes=11
        srun torchrun train.py
    """
    clusters = world.plan.of(SlurmCluster)
    if not clusters or any(cluster.database is not None for cluster in clusters):
        return
    most = sum(resource.most for resource in partition.resources)
    # Jobs of one queue of a spec share what is theirs.
    sharing = {work.queue_name or work.name for work in world.works_on(partition)}
    if most < world.param("nodes") or len(sharing) < world.param("jobs"):
        return
    yield Finding(
        f"partition `{partition.name}` of {numbered(most, 'node')} is for {numbered(len(sharing), 'job')}, and nothing "
        "bounds one of them",
        partition.where("limits"),
        label="who submits first has all of it",
        help="give each a queue of its own with `MaxCount`, or add `SlurmSettings.Database` and limits by account",
        spec_help="give each a queue with quotas, or add `accounting` to the platform",
    )
