"""The alarms: each over a metric that ParallelCluster gives CloudWatch by itself.

ParallelCluster makes alarms of its head node, which nobody hears and which an alarm over them would keep from being
deleted with the cluster, and metrics of failing nodes, which have no alarm (aws-parallelcluster 3.16.1,
templates/cluster_stack.py: _add_head_node_alarms; templates/cw_dashboard_builder.py: _add_custom_health_metrics).
"""

from __future__ import annotations

from trainyard.extensions.parallelcluster.monitoring.plan import Alarm

_QUOTA = "raise the quota of EC2"

HEAD = (
    Alarm(
        name="head-node-fails",
        what="the head node fails a check of EC2: nobody starts, ends or replaces a node",
        metric="StatusCheckFailed",
        namespace="AWS/EC2",
        statistic="Maximum",
        minutes=1,
        periods=5,
        of_head=True,
    ),
    Alarm(
        name="nodes-are-not-managed",
        what="clustermgtd gives no sign: nodes without a job are not ended, and are paid",
        metric="ClustermgtdHeartbeat",
        below=1,
        minutes=1,
        periods=10,
        of_head=True,
    ),
    Alarm(
        name="head-node-disk-is-full",
        what="the disk of the head node, with /home of all nodes, is over 90 percent full",
        metric="disk_used_percent",
        namespace="CWAgent",
        statistic="Maximum",
        above=90,
        minutes=5,
        periods=2,
        of_head=True,
        dimensions=(("path", "/"),),
    ),
    Alarm(
        name="head-node-memory-is-full",
        what="over 90 percent of the memory of the head node are used: Slurm's controller may be killed",
        metric="mem_used_percent",
        namespace="CWAgent",
        statistic="Maximum",
        above=90,
        minutes=5,
        periods=3,
        of_head=True,
    ),
)
NODES = (
    Alarm(
        name="nodes-are-not-allowed",
        what="IAM keeps the head node from launching nodes: the log clustermgtd has its answer",
        metric="IamPolicyErrors",
    ),
    Alarm(
        name="quota-of-vcpus-is-used",
        what=f"nodes are not launched, as the account may have no more vCPUs of their types: {_QUOTA}",
        metric="VcpuLimitErrors",
    ),
    Alarm(
        name="quota-of-volumes-is-used",
        what=f"nodes are not launched, as the account may have no more volumes: {_QUOTA}",
        metric="VolumeLimitErrors",
    ),
    # A node that EC2 has no capacity for is asked for again after ten minutes (insufficient_capacity_timeout).
    Alarm(
        name="no-capacity",
        what="for half an hour EC2 has had no capacity for nodes that jobs wait for",
        metric="InsufficientCapacityErrors",
        minutes=15,
        periods=2,
    ),
    Alarm(
        name="nodes-are-not-launched",
        what="EC2 refuses to launch nodes: the log clustermgtd has its answer",
        metric="OtherInstanceLaunchFailures",
    ),
    Alarm(
        name="nodes-are-not-set-up",
        what="nodes are paid and do not come up in time: their logs cloud-init-output and chef-client say why",
        metric="InstanceBootstrapTimeoutErrors",
    ),
    Alarm(
        name="scripts-of-nodes-are-missing",
        what="nodes cannot download a script that they run, and are replaced",
        metric="OnNodeConfiguredDownloadErrors",
    ),
    Alarm(
        name="scripts-of-nodes-fail",
        what="a script that nodes run once they are set up fails, and they are replaced",
        metric="OnNodeConfiguredRunErrors",
    ),
    Alarm(
        name="nodes-fail-checks-of-ec2",
        what="nodes fail a check of EC2 and are replaced: their jobs start again",
        metric="EC2HealthCheckErrors",
    ),
    Alarm(
        name="nodes-are-retired",
        what="EC2 retires or maintains nodes: they are replaced when it does",
        metric="ScheduledEventHealthCheckErrors",
    ),
    Alarm(
        name="instances-are-gone",
        what="nodes have no instance any more: somebody or EC2 has ended it",
        metric="NoCorrespondingInstanceErrors",
    ),
    Alarm(
        name="nodes-do-not-respond",
        what="nodes do not answer Slurm and are replaced: their jobs start again",
        metric="SlurmNodeNotRespondingErrors",
    ),
)
GPUS = (
    Alarm(
        name="gpus-fail-tests",
        what="DCGM finds a GPU at fault before a job, and the node is replaced",
        metric="GpuHealthCheckFailures",
    ),
)
