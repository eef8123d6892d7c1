"""What it means that a whole thing comes or goes, kind by kind."""

from __future__ import annotations

import pytest
from trainyard.extensions.review.consequences import Consequence
from trainyard.extensions.review.consequences.compared import effects, judges
from trainyard.extensions.review.edits.edit import edit_of
from trainyard.extensions.review.edits.thing import Thing
from trainyard.extensions.terraform.lowering.types import TYPES

C = Consequence
COMES_AND_GOES = {
    (C.ACCESS, C.ACCESS): """
        AWS::EC2::SecurityGroup AWS::EC2::SecurityGroupEgress AWS::EC2::SecurityGroupIngress
        AWS::EKS::AccessEntry AWS::EKS::PodIdentityAssociation AWS::IAM::InstanceProfile
        AWS::IAM::ManagedPolicy AWS::IAM::Policy AWS::IAM::Role AWS::IAM::RolePolicy
        AWS::S3::BucketPolicy AWS::SQS::QueuePolicy CiliumClusterwideNetworkPolicy.cilium.io
        CiliumNetworkPolicy.cilium.io ClusterRole.rbac.authorization.k8s.io
        ClusterRoleBinding.rbac.authorization.k8s.io ClusterSecretStore.external-secrets.io
        ExternalSecret.external-secrets.io NetworkPolicy.networking.k8s.io
        Role.rbac.authorization.k8s.io RoleBinding.rbac.authorization.k8s.io Secret
        SecretStore.external-secrets.io ServiceAccount
        ValidatingAdmissionPolicy.admissionregistration.k8s.io
        ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io aws_eks_access_entry
        aws_eks_access_policy_association aws_eks_pod_identity_association
        aws_iam_instance_profile aws_iam_policy aws_iam_role aws_iam_role_policy
        aws_iam_role_policy_attachment aws_s3_bucket_policy aws_s3_bucket_public_access_block
        aws_security_group aws_security_group_rule aws_sqs_queue_policy
        aws_vpc_security_group_egress_rule aws_vpc_security_group_ingress_rule
    """,
    (C.CONTROLLERS, C.CONTROLLERS): """
        DaemonSet.apps Deployment.apps HelmRelease.helm.toolkit.fluxcd.io ReplicaSet.apps
        StatefulSet.apps
    """,
    (C.COST, C.COST): """
        AWS::Budgets::Budget AWS::CloudWatch::Alarm AWS::EC2::EIP AWS::EC2::NatGateway
        AWS::EC2::VPCEndpoint LimitRange NodeOverlay.karpenter.sh ResourceQuota aws_eip aws_nat_gateway aws_vpc_endpoint
    """,
    (C.COST, C.DESTROYS_DATA): """
        AWS::APS::Workspace AWS::ECR::Repository AWS::FSx::FileSystem AWS::Grafana::Workspace
        AWS::KMS::Key AWS::Logs::LogGroup AWS::S3::Bucket PersistentVolumeClaim
        aws_cloudwatch_log_group aws_ecr_repository aws_fsx_lustre_file_system
        aws_grafana_workspace aws_kms_key aws_prometheus_workspace aws_s3_bucket
    """,
    (C.COST, C.REPLACES_NODES): """
        AWS::EKS::Nodegroup NodePool.karpenter.sh aws_eks_node_group
    """,
    (C.COST, C.UNKNOWN): """
        ClusterConfig.eksctl.io hyperpod
    """,
    (C.HARMLESS, C.DESTROYS_DATA): """
        PersistentVolume
    """,
    (C.HARMLESS, C.ENDS_JOBS): """
        Namespace
    """,
    (C.HARMLESS, C.HARMLESS): """
        Alert.notification.toolkit.fluxcd.io AlertmanagerConfig.monitoring.coreos.com
        ClusterTrainingRuntime.trainer.kubeflow.org EC2NodeClass.karpenter.k8s.aws
        HelmRepository.source.toolkit.fluxcd.io NodeClass.eks.amazonaws.com
        OCIRepository.source.toolkit.fluxcd.io PodDisruptionBudget.policy
        PodMonitor.monitoring.coreos.com PrometheusRule.monitoring.coreos.com
        Provider.notification.toolkit.fluxcd.io ServiceMonitor.monitoring.coreos.com
        StorageClass.storage.k8s.io TrainingRuntime.trainer.kubeflow.org cloudformation markdown
        memory terraform
    """,
    (C.HARMLESS, C.UNKNOWN): """
        AWS::APS::RuleGroupsNamespace AWS::CodeBuild::Project AWS::DLM::LifecyclePolicy
        AWS::EC2::InternetGateway AWS::EC2::PlacementGroup AWS::EC2::Route AWS::EC2::RouteTable
        AWS::EC2::Subnet AWS::EC2::SubnetRouteTableAssociation AWS::EC2::VPC
        AWS::EC2::VPCGatewayAttachment AWS::ECR::PullThroughCacheRule AWS::Events::Rule
        AWS::FSx::DataRepositoryAssociation AWS::KMS::Alias AWS::SQS::Queue ConfigMap
        Kustomization.kustomize.toolkit.fluxcd.io aws_cloudwatch_event_rule
        aws_cloudwatch_event_target aws_codebuild_project aws_dlm_lifecycle_policy
        aws_ecr_lifecycle_policy aws_ecr_pull_through_cache_rule
        aws_fsx_data_repository_association aws_internet_gateway aws_internet_gateway_attachment
        aws_kms_alias aws_placement_group aws_prometheus_alert_manager_definition
        aws_prometheus_rule_group_namespace aws_prometheus_workspace_configuration aws_route
        aws_route_table aws_route_table_association aws_s3_bucket_lifecycle_configuration
        aws_s3_bucket_ownership_controls aws_s3_bucket_server_side_encryption_configuration
        aws_s3_bucket_versioning aws_sqs_queue aws_subnet aws_vpc data.aws_cloudformation_export
        data.aws_subnets
    """,
    (C.MOVES_JOBS, C.ENDS_JOBS): """
        CronJob.batch HyperPodPyTorchJob.sagemaker.amazonaws.com JAXJob.kubeflow.org Job.batch
        Job.batch.volcano.sh JobSet.jobset.x-k8s.io LeaderWorkerSet.leaderworkerset.x-k8s.io
        MPIJob.kubeflow.org PaddleJob.kubeflow.org Pod PyTorchJob.kubeflow.org RayCluster.ray.io
        RayJob.ray.io RayService.ray.io TFJob.kubeflow.org TrainJob.trainer.kubeflow.org
        XGBoostJob.kubeflow.org sbatch
    """,
    (C.MOVES_JOBS, C.MOVES_JOBS): """
        AdmissionCheck.kueue.x-k8s.io ClusterQueue.kueue.x-k8s.io Cohort.kueue.x-k8s.io
        LocalQueue.kueue.x-k8s.io PriorityClass.scheduling.k8s.io ResourceFlavor.kueue.x-k8s.io
        Topology.kueue.x-k8s.io WorkloadPriorityClass.kueue.x-k8s.io
    """,
    (C.UNKNOWN, C.UNKNOWN): """
        GitRepository.source.toolkit.fluxcd.io parallelcluster shell
    """,
}
"""What is said of a thing that is added, and of one that is removed: the kinds."""
NAMED = [(kind, both) for both, kinds in COMES_AND_GOES.items() for kind in kinds.split()]
BY_KIND = dict(NAMED)
OBJECTS = [kind for kind in sorted(judges()) if kind[0].isupper() and not kind.startswith("AWS::")]
"""Kinds of Kubernetes."""


def thing(kind: str, **labels: str) -> Thing:
    return Thing(
        kind, (kind, "x"), "x", "objects/x.yaml", {"metadata": {"name": "x", "labels": labels}}
    )


def said(before: Thing | None, after: Thing | None) -> Consequence:
    edit = edit_of(before, after)
    assert edit is not None
    ((effect, _),) = effects(edit)
    assert effect.why
    return effect.consequence


def test_the_table_has_kinds_with_a_judge_and_each_once() -> None:
    """A new kind needs no row: that it has a judge is asked in test_kinds.py."""
    assert len(NAMED) == len(BY_KIND)
    assert BY_KIND.keys() - judges().keys() == set()


@pytest.mark.parametrize("kind", sorted(judges()))
def test_a_thing_comes_and_goes(kind: str) -> None:
    both = (said(None, thing(kind)), said(thing(kind), None))
    assert both == BY_KIND.get(kind, both)


@pytest.mark.parametrize("kind", OBJECTS)
def test_a_label_of_an_object_changes_nothing_that_runs(kind: str) -> None:
    assert said(thing(kind), thing(kind, team="a")) is C.HARMLESS


def test_a_resource_means_the_same_in_a_stack_and_in_a_module() -> None:
    assert {kind: BY_KIND[kind] for kind in TYPES} == {
        kind: BY_KIND[of_terraform] for kind, (of_terraform, _) in TYPES.items()
    }
