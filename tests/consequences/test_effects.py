"""What each judge says of one edit: the consequence, and words of the reason."""

from __future__ import annotations

from typing import Any

import pytest
from trainyard.extensions.review.consequences import Consequence
from trainyard.extensions.review.consequences.compared import effects
from trainyard.extensions.review.edits.edit import edit_of
from trainyard.extensions.review.edits.thing import MODULE, STACK, Thing

Body = dict[str, Any]
C = Consequence


def thing(kind: str, body: Body, path: str) -> Thing:
    return Thing(kind, (kind, "x"), "x", path, body)


def said(kind: str, before: Body | None, after: Body | None, path: str) -> list[tuple[str, str]]:
    """The consequences of an edit, each with its reason."""
    old = thing(kind, before, path) if before is not None else None
    new = thing(kind, after, path) if after is not None else None
    edit = edit_of(old, new)
    assert edit is not None
    return [(effect.consequence, effect.why) for effect, _ in effects(edit)]


def spec(**keys: Any) -> Body:
    return {"metadata": {"name": "x"}, "spec": keys}


def labels(**names: str) -> Body:
    return {"metadata": {"name": "x", "labels": names}}


def properties(**keys: Any) -> Body:
    return {"Properties": keys}


def lustre(**keys: Any) -> Body:
    return properties(LustreConfiguration=keys)


def kept_for(days: int) -> Body:
    return {"retention_in_days": days}


def scaled(size: int) -> Body:
    return {"scaling_config": {"max_size": size}}


KEY = {"Statement": [{"Effect": "Allow"}]}


def group(**keys: Any) -> Body:
    return {"managedNodeGroups": [{"name": "a", **keys}]}


def template(metadata: Body | None = None, **keys: Any) -> Body:
    """A NodePool with this template."""
    return spec(template={"metadata": metadata or {}, "spec": keys})


def zones(*values: str, operator: str = "In") -> Body:
    """A NodePool whose nodes are in zones."""
    zone = {"key": "topology.kubernetes.io/zone", "operator": operator, "values": list(values)}
    return template(requirements=[zone])


FLUX = "kustomize.toolkit.fluxcd.io"
SYSTEM = "AWS::FSx::FileSystem"
LOGS = "AWS::Logs::LogGroup"
RELEASE, STAGE = "HelmRelease.helm.toolkit.fluxcd.io", f"Kustomization.{FLUX}"
CONFIG, POOL = "ClusterConfig.eksctl.io", "NodePool.karpenter.sh"
GROUP, ROLE = "AWS::EKS::Nodegroup", "AWS::IAM::Role"
GOVERNED = "bootstrap/hyperpod/governance/x.json"
DEADLINE = {"spec": {"template": {"spec": {"terminationGracePeriod": "10m"}}}}
EDITS: list[tuple[str, Body | None, Body | None, Consequence, str]] = [
    # controllers
    (RELEASE, spec(interval="1h"), spec(interval="2h"), C.HARMLESS, "how often"),
    (
        RELEASE,
        spec(serviceAccountName="a"),
        spec(serviceAccountName="b"),
        C.ACCESS,
        "another account",
    ),
    (RELEASE, spec(values={"a": 1}), spec(values={"a": 2}), C.CONTROLLERS, "upgrades the release"),
    (STAGE, spec(timeout="1h"), spec(timeout="2h"), C.HARMLESS, "how often"),
    (STAGE, spec(dependsOn=[]), spec(dependsOn=[{"name": "a"}]), C.HARMLESS, "which order"),
    (
        STAGE,
        spec(serviceAccountName="a"),
        spec(serviceAccountName="b"),
        C.ACCESS,
        "another account",
    ),
    (STAGE, spec(path="a"), spec(path="b"), C.UNKNOWN, "no fact"),
    (
        "OCIRepository.source.toolkit.fluxcd.io",
        spec(interval="1h"),
        spec(interval="2h"),
        C.HARMLESS,
        "how often",
    ),
    (
        "OCIRepository.source.toolkit.fluxcd.io",
        spec(url="a"),
        spec(url="b"),
        C.CONTROLLERS,
        "another chart",
    ),
    ("ConfigMap", {"immutable": True, "data": {"a": "1"}}, None, C.HARMLESS, "history keeps"),
    ("ConfigMap", {"data": {"a": "1"}}, {"data": {"a": "2"}}, C.UNKNOWN, "nothing restarts"),
    # who may do what
    (
        "Namespace",
        labels(),
        labels(**{"pod-security.kubernetes.io/enforce": "baseline"}),
        C.ACCESS,
        "may be created",
    ),
    ("Namespace", labels(), labels(team="a"), C.HARMLESS, "restarts nothing"),
    ("ServiceAccount", labels(), labels(team="a"), C.HARMLESS, "restarts nothing"),
    ("NetworkPolicy.networking.k8s.io", labels(), labels(team="a"), C.HARMLESS, "restarts nothing"),
    # eksctl
    (
        CONFIG,
        {"metadata": {"version": "1.34"}},
        {"metadata": {"version": "1.35"}},
        C.CONTROLLERS,
        "control plane",
    ),
    (CONFIG, {"metadata": {"tags": {}}}, {"metadata": {"tags": {"a": "b"}}}, C.HARMLESS, "a tag"),
    (CONFIG, {"metadata": {"region": "a"}}, {"metadata": {"region": "b"}}, C.UNKNOWN, "no fact"),
    (CONFIG, {"cloudWatch": {"a": 1}}, {"cloudWatch": {"a": 2}}, C.COST, "log lines"),
    (
        CONFIG,
        {"addons": [{"name": "a", "podIdentityAssociations": [{"roleARN": "a"}]}]},
        {"addons": [{"name": "a", "podIdentityAssociations": [{"roleARN": "b"}]}]},
        C.ACCESS,
        "what an add-on may do",
    ),
    (CONFIG, group(labels={}), group(labels={"a": "b"}), C.MOVES_JOBS, "nodes that run get it"),
    (CONFIG, group(taints=[]), group(taints=[{"key": "a"}]), C.MOVES_JOBS, "nodes that run get"),
    (
        CONFIG,
        group(nodeRepairConfig={"enabled": False}),
        group(nodeRepairConfig={"enabled": True}),
        C.REPLACES_NODES,
        "none is replaced by it",
    ),
    (CONFIG, group(releaseVersion="a"), group(releaseVersion="b"), C.REPLACES_NODES, "drains each"),
    (CONFIG, group(volumeSize=1), group(volumeSize=2), C.REPLACES_NODES, "made again"),
    (
        CONFIG,
        {"managedNodeGroups": [{"name": "a", "maxSize": 1}]},
        {"managedNodeGroups": [{"name": "a", "maxSize": 2}]},
        C.COST,
        "number of nodes",
    ),
    # Karpenter
    (POOL, DEADLINE, None, C.ENDS_JOBS, "`terminationGracePeriod` ends the pods"),
    (POOL, spec(), None, C.REPLACES_NODES, "until they end"),
    (
        POOL,
        spec(disruption={"consolidateAfter": "1m"}),
        spec(disruption={"consolidateAfter": "2m"}),
        C.COST,
        "another time",
    ),
    (
        POOL,
        spec(disruption={"budgets": []}),
        spec(disruption={"budgets": [{"nodes": "0"}]}),
        C.REPLACES_NODES,
        "none drifts by it",
    ),
    (POOL, zones("a"), zones("a", "b"), C.COST, "none drifts"),
    (POOL, zones("a", "b"), zones("a"), C.REPLACES_NODES, "its nodes drift"),
    (POOL, zones("a"), zones("a", operator="NotIn"), C.REPLACES_NODES, "its nodes drift"),
    (POOL, template(), zones("a"), C.REPLACES_NODES, "its nodes drift"),
    (POOL, template(), template(expireAfter="1h"), C.REPLACES_NODES, "its nodes drift"),
    (
        POOL,
        template({"labels": {"a": "b"}}),
        template({"labels": {"a": "c"}}),
        C.REPLACES_NODES,
        "its nodes drift",
    ),
    (POOL, template(), template({"annotations": {"a": "b"}}), C.REPLACES_NODES, "its nodes drift"),
    (
        POOL,
        template({"annotations": {"a": "b"}}),
        template({"annotations": {"a": "c"}}),
        C.REPLACES_NODES,
        "its nodes drift",
    ),
    # storage
    (
        "PersistentVolumeClaim",
        spec(resources={"requests": {"storage": "1Gi"}}),
        spec(resources={"requests": {"storage": "2Gi"}}),
        C.UNKNOWN,
        "the API server refuses it",
    ),
    ("PersistentVolumeClaim", labels(), labels(a="b"), C.HARMLESS, "restarts nothing"),
    ("PersistentVolume", spec(mountOptions=["a"]), spec(mountOptions=["b"]), C.UNKNOWN, "no fact"),
    (
        "PersistentVolume",
        spec(persistentVolumeReclaimPolicy="Delete"),
        spec(persistentVolumeReclaimPolicy="Retain"),
        C.HARMLESS,
        "once the volume is released",
    ),
    ("StorageClass.storage.k8s.io", spec(), None, C.HARMLESS, "those that exist stay"),
    # CloudFormation
    (
        SYSTEM,
        lustre(DeploymentType="SCRATCH_2"),
        lustre(DeploymentType="PERSISTENT_2"),
        C.DESTROYS_DATA,
        "another one",
    ),
    (
        SYSTEM,
        properties(StorageType="SSD"),
        properties(StorageType="HDD"),
        C.DESTROYS_DATA,
        "another one",
    ),
    (SYSTEM, lustre(CopyTagsToBackups=True), lustre(), C.DESTROYS_DATA, "another one"),
    (
        SYSTEM,
        {**lustre(EfaEnabled=True), "UpdateReplacePolicy": "Retain"},
        {**lustre(EfaEnabled=False), "UpdateReplacePolicy": "Retain"},
        C.UNKNOWN,
        "which is empty",
    ),
    (
        SYSTEM,
        lustre(PerUnitStorageThroughput=125),
        lustre(PerUnitStorageThroughput=250),
        C.COST,
        "throughput",
    ),
    (SYSTEM, properties(StorageCapacity=1200), properties(StorageCapacity=2400), C.COST, "size"),
    (
        SYSTEM,
        lustre(AutomaticBackupRetentionDays=7),
        lustre(AutomaticBackupRetentionDays=3),
        C.DESTROYS_DATA,
        "older",
    ),
    (
        SYSTEM,
        lustre(AutomaticBackupRetentionDays=3),
        lustre(AutomaticBackupRetentionDays=7),
        C.COST,
        "kept for longer",
    ),
    (
        SYSTEM,
        lustre(DataCompressionType="NONE"),
        lustre(DataCompressionType="LZ4"),
        C.HARMLESS,
        "from then on",
    ),
    (
        SYSTEM,
        lustre(WeeklyMaintenanceStartTime="1:05:00"),
        lustre(WeeklyMaintenanceStartTime="2:05:00"),
        C.HARMLESS,
        "maintains",
    ),
    (
        LOGS,
        properties(RetentionInDays=30),
        properties(RetentionInDays=60),
        C.COST,
        "kept for longer",
    ),
    (LOGS, properties(RetentionInDays=30), properties(RetentionInDays=7), C.DESTROYS_DATA, "older"),
    (LOGS, properties(Tags=[]), properties(Tags=[{"Key": "a", "Value": "b"}]), C.HARMLESS, "a tag"),
    (LOGS, {"DeletionPolicy": "Retain"}, {"DeletionPolicy": "Delete"}, C.UNKNOWN, "what is kept"),
    (LOGS, {"DependsOn": ["A"]}, {"DependsOn": ["B"]}, C.HARMLESS, "order"),
    (
        ROLE,
        properties(Description="a"),
        properties(Description="b"),
        C.HARMLESS,
        "what people read",
    ),
    (ROLE, properties(Tags=[]), properties(Tags=[{"Key": "a", "Value": "b"}]), C.HARMLESS, "a tag"),
    (
        "AWS::EC2::NatGateway",
        properties(Tags=[]),
        properties(Tags=[{"Key": "a", "Value": "b"}]),
        C.HARMLESS,
        "a tag",
    ),
    (
        GROUP,
        properties(ScalingConfig={"MaxSize": 1}),
        properties(ScalingConfig={"MaxSize": 2}),
        C.COST,
        "number of nodes",
    ),
    (
        "AWS::S3::Bucket",
        properties(PublicAccessBlockConfiguration={"BlockPublicAcls": True}),
        properties(PublicAccessBlockConfiguration={"BlockPublicAcls": False}),
        C.ACCESS,
        "who may do or reach",
    ),
    ("AWS::KMS::Key", properties(KeyPolicy={}), properties(KeyPolicy=KEY), C.ACCESS, "who may"),
    (
        "AWS::EC2::VPCEndpoint",
        properties(PolicyDocument={}),
        properties(PolicyDocument=KEY),
        C.ACCESS,
        "who may do or reach",
    ),
    ("AWS::EC2::VPCEndpoint", None, properties(VpcEndpointType="Gateway"), C.HARMLESS, "is new"),
    ("AWS::EC2::VPCEndpoint", None, properties(VpcEndpointType="Interface"), C.COST, "is paid"),
    ("aws_vpc_endpoint", None, {"vpc_endpoint_type": "Gateway"}, C.HARMLESS, "is new"),
    ("aws_vpc_endpoint", None, {"vpc_endpoint_type": "Interface"}, C.COST, "is paid"),
    ("AWS::S3::Bucket", properties(MetadataConfiguration=1), properties(), C.UNKNOWN, "no fact"),
    (GROUP, properties(DiskSize=100), properties(DiskSize=200), C.REPLACES_NODES, "another group"),
    ("AWS::SQS::Queue", {"DeletionPolicy": "Retain"}, None, C.HARMLESS, "DeletionPolicy keeps it"),
    ("AWS::SQS::Queue", {}, None, C.UNKNOWN, "no fact"),
    (STACK, {"Description": "a"}, {"Description": "b"}, C.HARMLESS, "no resource another"),
    (STACK, {"Parameters": {}}, {"Parameters": {"A": {}}}, C.UNKNOWN, "no fact"),
    # Terraform
    ("aws_iam_role", {"tags": {}}, {"tags": {"a": "b"}}, C.HARMLESS, "a tag"),
    ("aws_sqs_queue", {"depends_on": []}, {"depends_on": ["a"]}, C.HARMLESS, "no resource another"),
    ("aws_sqs_queue", {"name": "a"}, {"name": "b"}, C.UNKNOWN, "`terraform plan`"),
    ("aws_cloudwatch_log_group", kept_for(30), kept_for(60), C.COST, "kept for longer"),
    ("aws_cloudwatch_log_group", kept_for(60), kept_for(30), C.DESTROYS_DATA, "older than it says"),
    ("aws_ecr_lifecycle_policy", {"policy": "a"}, {"policy": "b"}, C.DESTROYS_DATA, "older than"),
    ("aws_nat_gateway", {"subnet_id": "a"}, {"subnet_id": "b"}, C.UNKNOWN, "`terraform plan`"),
    ("aws_kms_key", {"policy": "a"}, {"policy": "b"}, C.ACCESS, "who may do or reach"),
    ("aws_eks_node_group", scaled(1), scaled(2), C.COST, "number of nodes"),
    ("aws_eks_node_group", {"disk_size": 1}, {"disk_size": 2}, C.UNKNOWN, "`terraform plan`"),
    (MODULE, {"output": {}}, {"output": {"a": {}}}, C.HARMLESS, "listed by themselves"),
    # HyperPod
    ("hyperpod", {"Tags": []}, {"Tags": [{"Key": "a", "Value": "b"}]}, C.HARMLESS, "a tag"),
    ("hyperpod", {"ExecutionRole": "a"}, {"ExecutionRole": "b"}, C.ACCESS, "another role"),
    ("hyperpod", {"InstanceCount": 1}, {"InstanceCount": 2}, C.COST, "number of instances"),
]


@pytest.mark.parametrize(
    ("kind", "before", "after", "consequence", "reason"),
    EDITS,
    ids=[f"{number}-{each[0]}" for number, each in enumerate(EDITS)],
)
def test_an_edit_of_one_field(
    kind: str, before: Body | None, after: Body | None, consequence: Consequence, reason: str
) -> None:
    ((found, why),) = said(kind, before, after, "x.yaml")
    assert found == consequence
    assert reason in why


@pytest.mark.parametrize(
    ("before", "after", "consequence"),
    [
        ({"ComputeQuotaResources": [1]}, {"ComputeQuotaResources": [2]}, C.COST),
        ({"Description": "a"}, {"Description": "b"}, C.MOVES_JOBS),
    ],
)
def test_an_edit_of_the_governance_of_hyperpod(
    before: Body, after: Body, consequence: Consequence
) -> None:
    ((found, _),) = said("hyperpod", before, after, GOVERNED)
    assert found == consequence


CLUSTER = "bootstrap/cluster.yaml"


def resized(*nodes: int) -> Body:
    """Queues of so many nodes at most."""
    queues = [
        {"Name": f"q{index}", "ComputeResources": [{"Name": "a", "MinCount": 0, "MaxCount": most}]}
        for index, most in enumerate(nodes)
    ]
    return {"Scheduling": {"SlurmQueues": queues}}


def mounting(*names: str) -> Body:
    """What mounts some file systems."""
    return {"SharedStorage": [{"Name": name} for name in names]}


SLURM: list[tuple[str, Body | None, Body | None, Consequence, str]] = [
    (CLUSTER, resized(2, 2), resized(2), C.ENDS_JOBS, "no compute node runs"),
    (CLUSTER, resized(2), resized(2, 2), C.COST, "may be bought"),
    (CLUSTER, mounting("a", "b"), mounting("a"), C.ENDS_JOBS, "no compute node runs"),
    (CLUSTER, resized(2), resized(3), C.COST, "may be bought"),
    (CLUSTER, resized(2), resized(1), C.ENDS_JOBS, "no compute node runs"),
    (
        CLUSTER,
        {"HeadNode": {"CustomActions": 1}},
        {"HeadNode": {"CustomActions": 2}},
        C.HARMLESS,
        "ignores it",
    ),
    (
        CLUSTER,
        {"AdditionalResources": "a"},
        {"AdditionalResources": "b"},
        C.UNKNOWN,
        "while nodes run",
    ),
    (
        CLUSTER,
        {"LoginNodes": {"Pools": [1]}},
        {"LoginNodes": {"Pools": []}},
        C.REPLACES_NODES,
        "no login node runs",
    ),
    (
        CLUSTER,
        {"HeadNode": {"Iam": {"S3Access": []}}},
        {"HeadNode": {"Iam": {"S3Access": [{"BucketName": "data"}]}}},
        C.ACCESS,
        "what nodes may do",
    ),
]


@pytest.mark.parametrize(("path", "before", "after", "consequence", "reason"), SLURM)
def test_an_edit_of_a_cluster_of_slurm(
    path: str, before: Body | None, after: Body | None, consequence: Consequence, reason: str
) -> None:
    ((found, why),) = said("parallelcluster", before, after, path)
    assert found == consequence
    assert reason in why


@pytest.mark.parametrize(
    ("before", "after", "consequence", "reason"),
    [
        (None, {"script": 1}, C.MOVES_JOBS, "submits it"),
        ({"script": 1}, None, C.ENDS_JOBS, "cancels it if it waits or runs"),
        ({"script": 1}, {"script": 2}, C.ENDS_JOBS, "cancels the run that was submitted"),
    ],
)
def test_an_edit_of_a_batch_script(
    before: Body | None, after: Body | None, consequence: Consequence, reason: str
) -> None:
    ((found, why),) = said("sbatch", before, after, "jobs/models/borneo.sbatch")
    assert found == consequence
    assert reason in why


def test_a_cluster_that_leaves_git_stays_until_somebody_deletes_it() -> None:
    ((found, why),) = said(CONFIG, {"metadata": {"name": "x"}}, None, "bootstrap/eksctl.yaml")
    assert found == C.UNKNOWN
    assert "nothing deletes what eksctl made of it" in why
