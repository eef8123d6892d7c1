"""Lower: the parts of ParallelCluster's configuration, and the stack of what all nodes need.

ParallelCluster reads one file. Each queue and each storage is a file of its own here, so that two that come never meet;
the bootstrap puts them in the place of the variables (``up.sh --config`` prints the whole).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from compiler.lowering.body import given
from compiler.lowering.stack import STACKS, tag_list, template
from compiler.output import Artifact
from compiler.output.artifact import Places
from compiler.plan import Plan
from compiler.platforms.parallelcluster.cluster.plan import (
    CLUSTER_TAG,
    LOGIN_POOL,
    LoginPool,
    NodeStack,
    SlurmCluster,
)
from compiler.platforms.parallelcluster.partitions.plan import POOL_TAG, ComputeResource, Partition

FOLDER = "bootstrap/cluster"
QUEUES = f"{FOLDER}/queues"
PARTS = {"SlurmQueues": "${QUEUES}", "SharedStorage": "${STORAGE}", "S3Access": "${ACCESS}"}
"""Lists whose items are files of their own, with the variable that stands for each."""


def lower(plan: Plan) -> Iterator[Artifact]:
    """The cluster, its queues and its stack."""
    cluster = plan.one(SlurmCluster)
    if cluster is None:
        return
    stack = plan.one(NodeStack)
    yield _cluster(cluster)
    for partition in plan.of(Partition):
        yield _queue(partition)
    if stack is not None:
        yield _stack(stack)


def _settings(cluster: SlurmCluster) -> dict[str, Any]:
    database = cluster.database
    return given(
        ScaledownIdletime=cluster.idle_minutes,
        QueueUpdateStrategy="DRAIN",
        EnableMemoryBasedScheduling=True,
        CustomSlurmSettings=[{name: value} for name, value in cluster.settings] or None,
        Database=given(
            Uri=database.uri,
            UserName=database.user,
            PasswordSecretArn=database.password,
            DatabaseName=database.name,
        )
        if database is not None
        else None,
    )


def _cluster(cluster: SlurmCluster) -> Artifact:
    head = {
        "InstanceType": cluster.head_type,
        "Networking": {
            "SubnetId": cluster.head_subnet,
            "AdditionalSecurityGroups": list(cluster.security_groups),
        },
        "Ssh": given(KeyName=cluster.key_name, AllowedIps=cluster.allowed_cidr),
        "LocalStorage": {
            "RootVolume": {"Size": cluster.head_gib, "VolumeType": "gp3", "Encrypted": True}
        },
        "Imds": {"Secured": True},
        "CustomActions": _actions("OnNodeConfigured", cluster.scripts),
        "Iam": _iam(cluster.policies),
    }
    body = {
        "Region": cluster.region,
        "Image": {"Os": cluster.os},
        "HeadNode": head,
        **_login_nodes(cluster),
        "Scheduling": {
            "Scheduler": "slurm",
            "ScalingStrategy": "all-or-nothing",
            "SlurmSettings": _settings(cluster),
            "SlurmQueues": PARTS["SlurmQueues"],
        },
        "SharedStorage": PARTS["SharedStorage"],
        "Monitoring": {
            "DetailedMonitoring": cluster.detailed_monitoring,
            "Logs": {
                "CloudWatch": {
                    "Enabled": True,
                    "RetentionInDays": cluster.log_days,
                    "DeletionPolicy": "Retain",
                },
                "Rotation": {"Enabled": True},
            },
            "Dashboards": {"CloudWatch": {"Enabled": True}},
            "Alarms": {"Enabled": True},
        },
        "Tags": tag_list({**cluster.tags, CLUSTER_TAG: cluster.name}),
    }
    places: Places = {
        ("Region",): cluster.where("region"),
        ("Image", "Os"): cluster.where("os"),
        ("HeadNode", "InstanceType"): cluster.where("head_type"),
        ("HeadNode", "Networking"): cluster.where("head_subnet"),
        ("HeadNode", "Ssh"): cluster.where("allowed_cidr"),
        ("HeadNode", "LocalStorage"): cluster.where("head_gib"),
        ("HeadNode", "Iam"): cluster.where("policies"),
        ("Scheduling", "SlurmSettings"): cluster.where("settings"),
        ("Scheduling", "SlurmSettings", "ScaledownIdletime"): cluster.where("idle_minutes"),
        ("Scheduling", "SlurmSettings", "Database"): cluster.where("database"),
        ("Monitoring", "DetailedMonitoring"): cluster.where("detailed_monitoring"),
        ("Monitoring", "Logs"): cluster.where("log_days"),
        ("Tags",): cluster.where("tags"),
    }
    if cluster.login is not None:
        places |= _login_places(cluster.login)
    return Artifact(body, f"{FOLDER}/cluster.yaml", cluster.at, places, format="parallelcluster")


def _login_nodes(cluster: SlurmCluster) -> dict[str, Any]:
    """They mount what compute nodes mount, and are reached by Session Manager too."""
    login = cluster.login
    if login is None:
        return {}
    pool = given(
        Name=LOGIN_POOL,
        InstanceType=login.instance_type,
        Count=login.count,
        Networking={
            "SubnetIds": [login.subnet],
            "AdditionalSecurityGroups": list(cluster.security_groups),
        },
        Ssh={"AllowedIps": login.allowed_cidr},
        GracetimePeriod=login.grace_minutes,
        Iam={"AdditionalIamPolicies": [{"Policy": arn} for arn in cluster.policies]},
    )
    return {"LoginNodes": {"Pools": [pool]}}


def _login_places(login: LoginPool) -> Places:
    pool = ("LoginNodes", "Pools", 0)
    return {
        ("LoginNodes",): login.at,
        (*pool, "Count"): login.where("count"),
        (*pool, "InstanceType"): login.where("instance_type"),
        (*pool, "Networking", "SubnetIds"): login.where("subnet"),
        (*pool, "Ssh"): login.where("allowed_cidr"),
        (*pool, "GracetimePeriod"): login.where("grace_minutes"),
    }


def _actions(event: str, scripts: tuple[str, ...]) -> dict[str, Any]:
    """What nodes run at an event: one script, or several in a row."""
    items = [{"Script": script} for script in scripts]
    return {event: items[0] if len(items) == 1 else {"Sequence": items}}


def _iam(policies: tuple[str, ...]) -> dict[str, Any]:
    return {
        "AdditionalIamPolicies": [{"Policy": arn} for arn in policies],
        "S3Access": PARTS["S3Access"],
    }


def _queue(partition: Partition) -> Artifact:
    root = given(
        Size=partition.root_size,
        VolumeType="gp3",
        Encrypted=True,
        Iops=partition.root_iops,
        Throughput=partition.root_throughput,
    )
    scratch = {"MountDir": partition.scratch} if partition.scratch else None
    body = given(
        Name=partition.name,
        CapacityType=partition.capacity,
        ComputeSettings={"LocalStorage": given(RootVolume=root, EphemeralVolume=scratch)},
        Networking={
            "SubnetIds": list(partition.subnets),
            "AdditionalSecurityGroups": list(partition.security_groups),
        },
        HealthChecks={"Gpu": {"Enabled": True}} if partition.gpu_check else None,
        ComputeResources=[_resource(resource) for resource in partition.resources],
        CustomActions=_actions("OnNodeStart", partition.scripts),
        Iam=_iam(partition.policies),
        Tags=tag_list({POOL_TAG: partition.title}),
    )
    places: Places = {
        ("CapacityType",): partition.where("capacity"),
        ("ComputeSettings",): partition.where("root_size"),
        ("ComputeSettings", "LocalStorage", "RootVolume", "Size"): partition.where("root"),
        ("Networking", "SubnetIds"): partition.where("subnets"),
    }
    for index, resource in enumerate(partition.resources):
        at = ("ComputeResources", index)
        places |= {
            (*at, "InstanceType"): resource.where("instance_types"),
            (*at, "Instances"): resource.where("instance_types"),
            (*at, "MinCount"): resource.where("least"),
            (*at, "MaxCount"): resource.where("most"),
            (*at, "Efa"): resource.where("efa"),
            (*at, "CapacityReservationTarget"): resource.where("reservation"),
            (*at, "Networking"): resource.where("placement"),
        }
    path = f"{QUEUES}/{partition.name}.yaml"
    return Artifact(body, path, partition.at, places, format="parallelcluster")


def _resource(resource: ComputeResource) -> dict[str, Any]:
    types: dict[str, Any] = {"InstanceType": resource.instance_types[0]}
    if len(resource.instance_types) > 1:
        types = {"Instances": [{"InstanceType": name} for name in resource.instance_types]}
    placement = None
    if resource.placement is not None:
        group = given(Enabled=resource.placement, Name=resource.group)
        placement = {"PlacementGroup": group}
    target = None
    if resource.reservation is not None:
        target = {"CapacityReservationId": resource.reservation}
    return given(
        Name=resource.name,
        **types,
        MinCount=resource.least,
        MaxCount=resource.most,
        # GPUDirect RDMA needs no setting (aws-parallelcluster 3.16.1, GdrSupport: deprecated).
        Efa={"Enabled": True} if resource.efa else None,
        CapacityReservationTarget=target,
        Networking=placement,
    )


def _rights(stack: NodeStack) -> list[dict[str, Any]]:
    """What nodes may read: scripts, images, and the secrets of jobs."""
    bucket = f"arn:{stack.partition}:s3:::{stack.bucket}"
    registry = f"arn:{stack.partition}:ecr:{stack.region}:{stack.account}:repository/*"
    statements: list[dict[str, Any]] = [
        {"Effect": "Allow", "Action": ["s3:ListBucket"], "Resource": bucket},
        {"Effect": "Allow", "Action": ["s3:GetObject"], "Resource": f"{bucket}/*"},
        {"Effect": "Allow", "Action": ["ecr:GetAuthorizationToken"], "Resource": "*"},
        {
            "Effect": "Allow",
            "Action": [
                "ecr:BatchCheckLayerAvailability",
                "ecr:BatchGetImage",
                "ecr:GetDownloadUrlForLayer",
            ],
            "Resource": registry,
        },
    ]
    if stack.secrets:
        secret = f"arn:{stack.partition}:secretsmanager:{stack.region}:{stack.account}:secret"
        statements.append(
            {
                "Effect": "Allow",
                "Action": ["secretsmanager:GetSecretValue"],
                # Secrets Manager adds `-` and six characters to the name (user guide, reference_iam-permissions).
                "Resource": [f"{secret}:{name}-??????" for name in stack.secrets],
            }
        )
    if stack.keys:
        decrypt = {"Effect": "Allow", "Action": ["kms:Decrypt"], "Resource": list(stack.keys)}
        statements.append(decrypt)
    return statements


def _stack(stack: NodeStack) -> Artifact:
    """The security group of who mounts file systems, the bucket of scripts, and what nodes may read."""
    public = ("BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets")
    resources: dict[str, Any] = {
        "Group": {
            "Type": "AWS::EC2::SecurityGroup",
            "Properties": given(
                GroupDescription=f"Nodes of cluster {stack.cluster}",
                VpcId=stack.vpc,
                Tags=tag_list({"Name": f"{stack.cluster}-nodes", **stack.tags}),
            ),
        },
        "Scripts": {
            "Type": "AWS::S3::Bucket",
            "Properties": given(
                BucketName=stack.bucket,
                BucketEncryption={
                    "ServerSideEncryptionConfiguration": [
                        {"ServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}
                    ]
                },
                OwnershipControls={"Rules": [{"ObjectOwnership": "BucketOwnerEnforced"}]},
                PublicAccessBlockConfiguration=dict.fromkeys(public, True),
                VersioningConfiguration={"Status": "Enabled"},
                Tags=tag_list(stack.tags) or None,
            ),
        },
        "Policy": {
            "Type": "AWS::IAM::ManagedPolicy",
            "Properties": {
                "ManagedPolicyName": stack.policy,
                "PolicyDocument": {"Version": "2012-10-17", "Statement": _rights(stack)},
            },
        },
    }
    if stack.budget is not None:
        resources["Budget"] = _budget(stack, stack.budget)
    body = template(f"What the nodes of cluster {stack.cluster} need", resources)
    body["Outputs"] = {
        "Group": {"Value": {"Fn::GetAtt": ["Group", "GroupId"]}, "Export": {"Name": stack.export}}
    }
    places: Places = {("Resources", "Budget"): stack.where("budget")}
    return Artifact(body, f"{STACKS}/nodes.yaml", stack.at, places, format="cloudformation")


def _budget(stack: NodeStack, monthly: int) -> dict[str, Any]:
    """A budget by the tag of the cluster (AWS::Budgets::Budget; cost allocation tags must be activated)."""
    subscribers = [{"SubscriptionType": "EMAIL", "Address": email} for email in stack.emails]
    alarms = [("ACTUAL", 50), ("ACTUAL", 80), ("ACTUAL", 100), ("FORECASTED", 100)]
    return {
        "Type": "AWS::Budgets::Budget",
        "Properties": {
            "Budget": {
                "BudgetName": f"trainyard-{stack.cluster}",
                "BudgetType": "COST",
                "TimeUnit": "MONTHLY",
                "BudgetLimit": {"Amount": monthly, "Unit": "USD"},
                "CostFilters": {"TagKeyValue": [f"user:trainyard-cluster${stack.cluster}"]},
            },
            "NotificationsWithSubscribers": [
                {
                    "Notification": {
                        "NotificationType": kind,
                        "ComparisonOperator": "GREATER_THAN",
                        "Threshold": percent,
                        "ThresholdType": "PERCENTAGE",
                    },
                    "Subscribers": subscribers,
                }
                for kind, percent in alarms
            ],
        },
    }
