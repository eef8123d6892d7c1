"""Lower: ParallelCluster's configuration, and the stack of what all nodes need.

The configuration is the file that ``pcluster`` takes, once the bootstrap has filled in the ids of what its stacks made.
Its lists are sorted, so that git merges two branches that each add an item.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.extensions.parallelcluster.cluster.plan import (
    CLUSTER_TAG,
    LOGIN_POOL,
    LoginPool,
    NodeStack,
    SlurmCluster,
)
from trainyard.extensions.parallelcluster.partitions.body import (
    actions,
    iam,
    places_of_queue,
    queue,
)
from trainyard.extensions.parallelcluster.partitions.plan import Partition
from trainyard.extensions.parallelcluster.shared_storage.body import access as body_of_access
from trainyard.extensions.parallelcluster.shared_storage.body import (
    file_system,
    places_of_file_system,
)
from trainyard.extensions.parallelcluster.shared_storage.plan import BucketAccess, SharedFileSystem
from trainyard.output import Artifact
from trainyard.output.artifact import Places
from trainyard.output.lowering.body import fields_given
from trainyard.output.lowering.templates import STACKS, tag_list, template
from trainyard.plan import Plan

PATH = "bootstrap/cluster.yaml"


def lower(plan: Plan) -> Iterator[Artifact]:
    """The cluster with its queues and what they mount, and its stack."""
    cluster = plan.one(SlurmCluster)
    if cluster is None:
        return
    yield _configuration(cluster, plan)
    stack = plan.one(NodeStack)
    if stack is not None:
        yield _stack(stack)
        if stack.budget is not None:
            yield _costs(stack, stack.budget)


def _settings(cluster: SlurmCluster) -> dict[str, Any]:
    database = cluster.database
    return fields_given(
        ScaledownIdletime=cluster.idle_minutes,
        QueueUpdateStrategy="DRAIN",
        EnableMemoryBasedScheduling=True,
        CustomSlurmSettings=[{name: value} for name, value in cluster.settings] or None,
        Database=fields_given(
            Uri=database.uri,
            UserName=database.user,
            PasswordSecretArn=database.password,
            DatabaseName=database.name,
        )
        if database is not None
        else None,
    )


def _configuration(cluster: SlurmCluster, plan: Plan) -> Artifact:
    queues = sorted(plan.of(Partition), key=lambda partition: partition.name)
    mounted = sorted(plan.of(SharedFileSystem), key=lambda storage: storage.name)
    buckets = sorted(plan.of(BucketAccess), key=lambda bucket: bucket.storage)
    access = [body_of_access(bucket) for bucket in buckets]
    body = _body(
        cluster,
        access,
        [queue(partition, access) for partition in queues],
        [file_system(storage) for storage in mounted],
    )
    places = _places(cluster)
    for index, partition in enumerate(queues):
        places |= places_of_queue(partition, ("Scheduling", "SlurmQueues", index))
    for index, storage in enumerate(mounted):
        places |= places_of_file_system(storage, ("SharedStorage", index))
    for index, bucket in enumerate(buckets):
        places["HeadNode", "Iam", "S3Access", index] = bucket.at
        for number, _ in enumerate(queues):
            places["Scheduling", "SlurmQueues", number, "Iam", "S3Access", index] = bucket.at
    return Artifact(body, PATH, cluster.at, places, format="parallelcluster")


def _body(
    cluster: SlurmCluster,
    access: list[dict[str, Any]],
    queues: list[dict[str, Any]],
    storage: list[dict[str, Any]],
) -> dict[str, Any]:
    head = {
        "InstanceType": cluster.head_type,
        "Networking": {
            "SubnetId": cluster.head_subnet,
            "AdditionalSecurityGroups": list(cluster.security_groups),
        },
        "Ssh": fields_given(KeyName=cluster.key_name, AllowedIps=cluster.allowed_cidr),
        "LocalStorage": {
            "RootVolume": fields_given(
                Size=cluster.head_gib,
                VolumeType="gp3",
                Encrypted=True,
                Iops=cluster.head_iops,
                Throughput=cluster.head_throughput,
            )
        },
        "Imds": {"Secured": True},
        "CustomActions": actions(cluster.scripts),
        "Iam": iam(cluster.policies, access),
    }
    return {
        "Region": cluster.region,
        "Image": {"Os": cluster.os},
        "HeadNode": head,
        **_login_nodes(cluster),
        "Scheduling": {
            "Scheduler": "slurm",
            "ScalingStrategy": "all-or-nothing",
            "SlurmSettings": _settings(cluster),
            "SlurmQueues": queues,
        },
        **fields_given(SharedStorage=storage or None),
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
        **_timeouts(cluster),
        "Tags": tag_list({**cluster.tags, CLUSTER_TAG: cluster.name}),
    }


def _timeouts(cluster: SlurmCluster) -> dict[str, Any]:
    times = {
        "HeadNodeBootstrapTimeout": cluster.head_minutes,
        "ComputeNodeBootstrapTimeout": cluster.node_minutes,
    }
    said = {name: minutes * 60 for name, minutes in times.items() if minutes is not None}
    return {"DevSettings": {"Timeouts": said}} if said else {}


def _places(cluster: SlurmCluster) -> Places:
    places: Places = {
        ("Region",): cluster.where("region"),
        ("Image", "Os"): cluster.where("os"),
        ("HeadNode", "InstanceType"): cluster.where("head_type"),
        ("HeadNode", "Networking"): cluster.where("head_subnet"),
        ("HeadNode", "Networking", "AdditionalSecurityGroups"): cluster.where("security_groups"),
        ("HeadNode", "CustomActions"): cluster.where("scripts"),
        ("HeadNode", "Ssh"): cluster.where("allowed_cidr"),
        ("HeadNode", "LocalStorage"): cluster.where("head_gib"),
        ("HeadNode", "Iam"): cluster.where("policies"),
        ("Scheduling", "SlurmSettings"): cluster.where("settings"),
        ("Scheduling", "SlurmSettings", "ScaledownIdletime"): cluster.where("idle_minutes"),
        ("Scheduling", "SlurmSettings", "Database"): cluster.where("database"),
        ("Monitoring", "DetailedMonitoring"): cluster.where("detailed_monitoring"),
        ("Monitoring", "Logs"): cluster.where("log_days"),
        ("DevSettings",): cluster.where("head_minutes"),
        ("DevSettings", "Timeouts", "ComputeNodeBootstrapTimeout"): cluster.where("node_minutes"),
        ("Tags",): cluster.where("tags"),
    }
    for index, (name, _) in enumerate(cluster.settings):
        if name in cluster.origins:
            own = ("Scheduling", "SlurmSettings", "CustomSlurmSettings", index)
            places[own] = cluster.where(name)
    if cluster.login is not None:
        places |= _login_places(cluster.login)
    return places


def _login_nodes(cluster: SlurmCluster) -> dict[str, Any]:
    """They mount what compute nodes mount, and are reached by Session Manager too."""
    login = cluster.login
    if login is None:
        return {}
    pool = fields_given(
        Name=LOGIN_POOL,
        InstanceType=login.instance_type,
        Count=login.count,
        Networking={
            "SubnetIds": [login.subnet],
            "AdditionalSecurityGroups": list(login.security_groups),
        },
        Ssh={"AllowedIps": login.allowed_cidr},
        GracetimePeriod=login.grace_minutes,
        CustomActions=actions(login.scripts),
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
        (*pool, "CustomActions"): login.where("scripts"),
    }


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
    if stack.objects:
        objects = [f"arn:{stack.partition}:s3:::{name}" for name in stack.objects]
        statements.append({"Effect": "Allow", "Action": ["s3:GetObject"], "Resource": objects})
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
    if stack.topics:
        publish = {"Effect": "Allow", "Action": ["sns:Publish"], "Resource": list(stack.topics)}
        statements.append(publish)
    if stack.topic_keys:
        # SNS developer guide, sns-key-management: who publishes to an encrypted topic
        actions = ["kms:GenerateDataKey", "kms:Decrypt"]
        resources = list(stack.topic_keys)
        statements.append({"Effect": "Allow", "Action": actions, "Resource": resources})
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
            "Properties": fields_given(
                GroupDescription=f"Nodes of cluster {stack.cluster}",
                VpcId=stack.vpc,
                Tags=tag_list({"Name": f"{stack.cluster}-nodes", **stack.tags}),
            ),
        },
        "Scripts": {
            "Type": "AWS::S3::Bucket",
            "Properties": fields_given(
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
    body = template(f"What the nodes of cluster {stack.cluster} need", resources)
    body["Outputs"] = {
        "Group": {"Value": {"Fn::GetAtt": ["Group", "GroupId"]}, "Export": {"Name": stack.export}}
    }
    return Artifact(body, f"{STACKS}/nodes.yaml", stack.at, format="cloudformation")


def _costs(stack: NodeStack, monthly: int) -> Artifact:
    """A stack of its own: most Regions do not have the type, and no cluster fails because of a budget."""
    at = stack.where("budget")
    body = template(
        f"What cluster {stack.cluster} may cost",
        {"Budget": _budget(stack, monthly)},
        Metadata={"Region": _REGION_OF_BUDGETS.get(stack.partition, stack.region)},
    )
    places: Places = {("Resources", "Budget"): at}
    return Artifact(body, f"{STACKS}/budget.yaml", at, places, format="cloudformation")


_REGION_OF_BUDGETS = {"aws": "us-east-1", "aws-cn": "cn-northwest-1"}
"""A Region that has the type; there is one budget for all Regions (AWS Cost Management user guide, budgets)."""


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
