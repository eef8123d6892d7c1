from __future__ import annotations

from collections.abc import Iterator

from trainyard.extensions.parallelcluster.cluster.plan import SlurmCluster
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity


@rule("SLM026", severity=Severity.WARNING)
def node_logs_not_kept(cluster: SlurmCluster, world: World) -> Iterator[Finding]:
    """Logs of the nodes are not there when somebody asks why a cluster or a node failed.

    A node that fails is ended and its disks with it, so what it said is in CloudWatch or nowhere; without these logs
    ParallelCluster also makes no metrics of nodes that fail (aws-parallelcluster 3.16.1, CWDashboardConstruct). With
    `DeletionPolicy: Delete` they go with the cluster, which is deleted most often because it failed. Logs without an
    end (`RetentionInDays: 0`) are a note: they are paid for until somebody deletes them.

    ## Fails

        Region: us-west-2
        Image: {Os: alinux2023}
        HeadNode: {InstanceType: m7i.2xlarge, Networking: {SubnetId: subnet-0a1b2c3d4e5f60718}}
        Scheduling: {Scheduler: slurm, SlurmQueues: []}
        Monitoring: {Logs: {CloudWatch: {Enabled: false}}}

        Region: us-west-2
        Image: {Os: alinux2023}
        HeadNode: {InstanceType: m7i.2xlarge, Networking: {SubnetId: subnet-0a1b2c3d4e5f60718}}
        Scheduling: {Scheduler: slurm, SlurmQueues: []}
        Monitoring: {Logs: {CloudWatch: {RetentionInDays: 30, DeletionPolicy: Delete}}}

        Region: us-west-2
        Image: {Os: alinux2023}
        HeadNode: {InstanceType: m7i.2xlarge, Networking: {SubnetId: subnet-0a1b2c3d4e5f60718}}
        Scheduling: {Scheduler: slurm, SlurmQueues: []}
        Monitoring: {Logs: {CloudWatch: {RetentionInDays: 0}}}

    ## Passes

        Region: us-west-2
        Image: {Os: alinux2023}
        HeadNode: {InstanceType: m7i.2xlarge, Networking: {SubnetId: subnet-0a1b2c3d4e5f60718}}
        Scheduling: {Scheduler: slurm, SlurmQueues: []}

        Region: us-west-2
        Image: {Os: alinux2023}
        HeadNode: {InstanceType: m7i.2xlarge, Networking: {SubnetId: subnet-0a1b2c3d4e5f60718}}
        Scheduling: {Scheduler: slurm, SlurmQueues: []}
        Monitoring: {Logs: {CloudWatch: {Enabled: true, RetentionInDays: 30, DeletionPolicy: Retain}}}
    """
    if not cluster.has_logs:
        yield Finding(
            "logs of the nodes are not sent to CloudWatch",
            cluster.where("has_logs"),
            label="a node that fails takes them along",
            help="remove `Enabled: false`",
        )
    elif cluster.logs_end_with_it:
        yield Finding(
            "logs of the nodes are deleted with the cluster",
            cluster.where("logs_end_with_it"),
            label="nothing says then why it failed",
            help="write `DeletionPolicy: Retain`; after `RetentionInDays` they go by themselves",
        )
    elif cluster.log_days == 0:
        yield Finding(
            "logs of the nodes are kept, and paid for, until somebody deletes them",
            cluster.where("log_days"),
            help="write a number of days under `RetentionInDays`, like 180",
            severity=Severity.NOTE,
        )
