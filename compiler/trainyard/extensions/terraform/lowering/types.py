"""The types of resources that the bootstrap makes, as the AWS provider has them.

A row says what a type is called, and which property is which argument. Where the provider has several resources for one
of CloudFormation, a function makes them. Sources: CloudFormation template reference; hashicorp/aws 6.25.0, whose schema
is in ``compiler/trainyard/extensions/terraform/formats/terraform/data``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.extensions.terraform.lowering.expressions import Names
from trainyard.extensions.terraform.lowering.part import Make, Part, Properties, tags_in, tags_of
from trainyard.extensions.terraform.lowering.stored import (
    association,
    bucket,
    file_system,
    snapshots,
)
from trainyard.output.lowering.body import fields_given


def _plain(type: str, **arguments: str) -> Make:
    """A type whose arguments are its properties under other names; tags are a map."""

    def make(properties: Properties, names: Names, address: str) -> Iterator[Part]:
        known = {**arguments, "tags": "Tags"}
        unknown = properties.keys() - set(known.values())
        if unknown:
            raise ValueError(f"no argument of {type} for {sorted(unknown)}")
        values = {
            argument: properties[name] for argument, name in known.items() if name in properties
        }
        if "tags" in values:
            values["tags"] = tags_of(values["tags"])
        yield Part(type, names.value(values))

    return make


def _security_group(properties: Properties, names: Names, address: str) -> Iterator[Part]:
    """The group, and a resource for each of its rules: those within it would remove all others (provider's page of
    aws_security_group)."""
    group = fields_given(
        description=properties["GroupDescription"],
        vpc_id=properties["VpcId"],
        tags=tags_in(properties),
    )
    yield Part("aws_security_group", names.value(group))
    for way in ("ingress", "egress"):
        key = f"SecurityGroup{way.capitalize()}"
        for number, rule in enumerate(properties.get(key, []), 1):
            own = {**names.value(_rule(rule)), "security_group_id": f"${{{address}.id}}"}
            kind = f"aws_vpc_security_group_{way}_rule"
            yield Part(kind, own, f"_{number}", key)


def _rule(rule: Properties) -> dict[str, Any]:
    return fields_given(
        description=rule.get("Description"),
        ip_protocol=rule["IpProtocol"],
        from_port=rule.get("FromPort"),
        to_port=rule.get("ToPort"),
        cidr_ipv4=rule.get("CidrIp"),
    )


def _rule_alone(way: str, peer: str) -> Make:
    return _plain(
        f"aws_vpc_security_group_{way}_rule",
        security_group_id="GroupId",
        referenced_security_group_id=peer,
        ip_protocol="IpProtocol",
        from_port="FromPort",
        to_port="ToPort",
    )


def _role(properties: Properties, names: Names, address: str) -> Iterator[Part]:
    role = fields_given(
        name=properties.get("RoleName"),
        assume_role_policy=names.text(properties["AssumeRolePolicyDocument"]),
        tags=names.value(tags_in(properties)),
    )
    yield Part("aws_iam_role", role)
    reference = f"${{{address}.name}}"
    for number, arn in enumerate(properties.get("ManagedPolicyArns", []), 1):
        attached = {"role": reference, "policy_arn": names.value(arn)}
        kind = "aws_iam_role_policy_attachment"
        yield Part(kind, attached, f"_{number}", "ManagedPolicyArns")
    for policy in properties.get("Policies", []):
        document = names.text(policy["PolicyDocument"])
        own = {"role": reference, "name": policy["PolicyName"], "policy": document}
        yield Part("aws_iam_role_policy", own, f"_{policy['PolicyName']}", "Policies")


def _document(type: str, document: str, **arguments: str) -> Make:
    """A type with a policy, which is JSON in a text."""

    def make(properties: Properties, names: Names, address: str) -> Iterator[Part]:
        values = {
            argument: names.value(properties[name])
            for argument, name in arguments.items()
            if name in properties
        }
        text = names.text(properties["PolicyDocument"])
        yield Part(type, {**values, document: text})

    return make


def _queue_policy(properties: Properties, names: Names, address: str) -> Iterator[Part]:
    (queue,) = properties["Queues"]
    policy = names.text(properties["PolicyDocument"])
    arguments = {"queue_url": names.value(queue), "policy": policy}
    yield Part("aws_sqs_queue_policy", arguments)


def _profile(properties: Properties, names: Names, address: str) -> Iterator[Part]:
    (role,) = properties["Roles"]
    name = properties["InstanceProfileName"]
    yield Part("aws_iam_instance_profile", {"name": name, "role": names.value(role)})


def _event_rule(properties: Properties, names: Names, address: str) -> Iterator[Part]:
    pattern = names.text(properties["EventPattern"])
    yield Part("aws_cloudwatch_event_rule", {"event_pattern": pattern})
    for target in properties["Targets"]:
        arguments = {
            "rule": f"${{{address}.name}}",
            "target_id": target["Id"],
            "arn": names.value(target["Arn"]),
        }
        yield Part("aws_cloudwatch_event_target", arguments, "", "Targets")


def _repository(properties: Properties, names: Names, address: str) -> Iterator[Part]:
    encryption = properties["EncryptionConfiguration"]
    scan = properties["ImageScanningConfiguration"]["ScanOnPush"]
    arguments = fields_given(
        name=properties["RepositoryName"],
        image_tag_mutability=properties["ImageTagMutability"],
        image_scanning_configuration={"scan_on_push": scan},
        encryption_configuration=fields_given(
            encryption_type=encryption["EncryptionType"], kms_key=encryption.get("KmsKey")
        ),
        tags=tags_in(properties),
    )
    yield Part("aws_ecr_repository", names.value(arguments))
    policy = names.value(properties["LifecyclePolicy"]["LifecyclePolicyText"])
    kept = {"repository": f"${{{address}.name}}", "policy": policy}
    yield Part("aws_ecr_lifecycle_policy", kept, of="LifecyclePolicy")


def _cache(properties: Properties, names: Names, address: str) -> Iterator[Part]:
    arguments = fields_given(
        ecr_repository_prefix=properties["EcrRepositoryPrefix"],
        upstream_registry_url=properties["UpstreamRegistryUrl"],
        credential_arn=properties.get("CredentialArn"),
    )
    yield Part("aws_ecr_pull_through_cache_rule", names.value(arguments))


def _project(properties: Properties, names: Names, address: str) -> Iterator[Part]:
    source = properties["Source"]
    environment = properties["Environment"]
    auth = source.get("Auth")
    logs = properties["LogsConfig"]["CloudWatchLogs"]
    auth_block = None
    if auth is not None:
        auth_block = {"type": auth["Type"], "resource": auth["Resource"]}
    arguments = fields_given(
        name=properties["Name"],
        description=properties["Description"],
        service_role=properties["ServiceRole"],
        artifacts={"type": properties["Artifacts"]["Type"]},
        source=fields_given(
            type=source["Type"],
            location=source["Location"],
            auth=auth_block,
            buildspec=source["BuildSpec"],
        ),
        environment={
            "type": environment["Type"],
            "compute_type": environment["ComputeType"],
            "image": environment["Image"],
            "privileged_mode": environment["PrivilegedMode"],
        },
        logs_config={
            "cloudwatch_logs": {"status": logs["Status"], "group_name": logs["GroupName"]}
        },
        build_timeout=properties["TimeoutInMinutes"],
        tags=tags_in(properties),
    )
    yield Part("aws_codebuild_project", names.value(arguments))


def _entry(properties: Properties, names: Names, address: str) -> Iterator[Part]:
    own = fields_given(
        cluster_name=properties["ClusterName"],
        principal_arn=properties["PrincipalArn"],
        type=properties.get("Type"),
        kubernetes_groups=properties.get("KubernetesGroups"),
    )
    yield Part("aws_eks_access_entry", names.value(own))
    for number, policy in enumerate(properties.get("AccessPolicies", []), 1):
        scope = policy["AccessScope"]
        associated = {
            "cluster_name": properties["ClusterName"],
            "principal_arn": f"${{{address}.principal_arn}}",
            "policy_arn": policy["PolicyArn"],
            "access_scope": fields_given(type=scope["Type"], namespaces=scope.get("Namespaces")),
        }
        kind = "aws_eks_access_policy_association"
        yield Part(kind, associated, f"_{number}", "AccessPolicies")


def _key(properties: Properties, names: Names, address: str) -> Iterator[Part]:
    arguments = fields_given(
        description=properties["Description"],
        enable_key_rotation=properties["EnableKeyRotation"],
        policy=names.text(properties["KeyPolicy"]),
        tags=names.value(tags_in(properties)),
    )
    yield Part("aws_kms_key", arguments)


def _workspace(properties: Properties, names: Names, address: str) -> Iterator[Part]:
    """A workspace, and resources for what it keeps how long and whom its Alertmanager tells."""
    own = fields_given(alias=properties["Alias"], tags=tags_in(properties))
    yield Part("aws_prometheus_workspace", names.value(own))
    workspace = f"${{{address}.id}}"
    days = properties["WorkspaceConfiguration"]["RetentionPeriodInDays"]
    kept = {"workspace_id": workspace, "retention_period_in_days": days}
    yield Part("aws_prometheus_workspace_configuration", kept, of="WorkspaceConfiguration")
    definition = properties.get("AlertManagerDefinition")
    if definition is not None:
        told = {"workspace_id": workspace, "definition": names.value(definition)}
        yield Part("aws_prometheus_alert_manager_definition", told, of="AlertManagerDefinition")


def _rules(properties: Properties, names: Names, address: str) -> Iterator[Part]:
    """Rules; the provider names their workspace by its id, where CloudFormation has the ARN."""
    (workspace, _) = properties["Workspace"]["Fn::GetAtt"]
    arguments = {
        "workspace_id": {"Ref": workspace},
        "name": properties["Name"],
        "data": properties["Data"],
    }
    yield Part("aws_prometheus_rule_group_namespace", names.value(arguments))


TYPES: Mapping[str, tuple[str, Make]] = {
    "AWS::APS::RuleGroupsNamespace": ("aws_prometheus_rule_group_namespace", _rules),
    "AWS::APS::Workspace": ("aws_prometheus_workspace", _workspace),
    "AWS::CodeBuild::Project": ("aws_codebuild_project", _project),
    "AWS::DLM::LifecyclePolicy": ("aws_dlm_lifecycle_policy", snapshots),
    "AWS::EC2::EIP": ("aws_eip", _plain("aws_eip", domain="Domain")),
    "AWS::EC2::InternetGateway": ("aws_internet_gateway", _plain("aws_internet_gateway")),
    "AWS::EC2::NatGateway": (
        "aws_nat_gateway",
        _plain("aws_nat_gateway", allocation_id="AllocationId", subnet_id="SubnetId"),
    ),
    "AWS::EC2::Route": (
        "aws_route",
        _plain(
            "aws_route",
            route_table_id="RouteTableId",
            destination_cidr_block="DestinationCidrBlock",
            gateway_id="GatewayId",
            nat_gateway_id="NatGatewayId",
        ),
    ),
    "AWS::EC2::RouteTable": ("aws_route_table", _plain("aws_route_table", vpc_id="VpcId")),
    "AWS::EC2::SecurityGroup": ("aws_security_group", _security_group),
    "AWS::EC2::SecurityGroupEgress": (
        "aws_vpc_security_group_egress_rule",
        _rule_alone("egress", "DestinationSecurityGroupId"),
    ),
    "AWS::EC2::SecurityGroupIngress": (
        "aws_vpc_security_group_ingress_rule",
        _rule_alone("ingress", "SourceSecurityGroupId"),
    ),
    "AWS::EC2::Subnet": (
        "aws_subnet",
        _plain(
            "aws_subnet",
            vpc_id="VpcId",
            availability_zone="AvailabilityZone",
            cidr_block="CidrBlock",
            map_public_ip_on_launch="MapPublicIpOnLaunch",
        ),
    ),
    "AWS::EC2::SubnetRouteTableAssociation": (
        "aws_route_table_association",
        _plain("aws_route_table_association", route_table_id="RouteTableId", subnet_id="SubnetId"),
    ),
    "AWS::EC2::VPC": (
        "aws_vpc",
        _plain(
            "aws_vpc",
            cidr_block="CidrBlock",
            enable_dns_hostnames="EnableDnsHostnames",
            enable_dns_support="EnableDnsSupport",
        ),
    ),
    "AWS::EC2::VPCEndpoint": (
        "aws_vpc_endpoint",
        _plain(
            "aws_vpc_endpoint",
            vpc_id="VpcId",
            service_name="ServiceName",
            vpc_endpoint_type="VpcEndpointType",
            route_table_ids="RouteTableIds",
            private_dns_enabled="PrivateDnsEnabled",
            subnet_ids="SubnetIds",
            security_group_ids="SecurityGroupIds",
        ),
    ),
    "AWS::EC2::VPCGatewayAttachment": (
        "aws_internet_gateway_attachment",
        _plain(
            "aws_internet_gateway_attachment",
            vpc_id="VpcId",
            internet_gateway_id="InternetGatewayId",
        ),
    ),
    "AWS::ECR::PullThroughCacheRule": ("aws_ecr_pull_through_cache_rule", _cache),
    "AWS::ECR::Repository": ("aws_ecr_repository", _repository),
    "AWS::EKS::AccessEntry": ("aws_eks_access_entry", _entry),
    "AWS::EKS::PodIdentityAssociation": (
        "aws_eks_pod_identity_association",
        _plain(
            "aws_eks_pod_identity_association",
            cluster_name="ClusterName",
            namespace="Namespace",
            service_account="ServiceAccount",
            role_arn="RoleArn",
        ),
    ),
    "AWS::Events::Rule": ("aws_cloudwatch_event_rule", _event_rule),
    "AWS::FSx::DataRepositoryAssociation": ("aws_fsx_data_repository_association", association),
    "AWS::FSx::FileSystem": ("aws_fsx_lustre_file_system", file_system),
    "AWS::Grafana::Workspace": (
        "aws_grafana_workspace",
        _plain(
            "aws_grafana_workspace",
            name="Name",
            account_access_type="AccountAccessType",
            authentication_providers="AuthenticationProviders",
            data_sources="DataSources",
            grafana_version="GrafanaVersion",
            permission_type="PermissionType",
            role_arn="RoleArn",
        ),
    ),
    "AWS::IAM::InstanceProfile": ("aws_iam_instance_profile", _profile),
    "AWS::IAM::ManagedPolicy": ("aws_iam_policy", _document("aws_iam_policy", "policy")),
    "AWS::IAM::Role": ("aws_iam_role", _role),
    "AWS::IAM::RolePolicy": (
        "aws_iam_role_policy",
        _document("aws_iam_role_policy", "policy", name="PolicyName", role="RoleName"),
    ),
    "AWS::KMS::Alias": (
        "aws_kms_alias",
        _plain("aws_kms_alias", name="AliasName", target_key_id="TargetKeyId"),
    ),
    "AWS::KMS::Key": ("aws_kms_key", _key),
    "AWS::Logs::LogGroup": (
        "aws_cloudwatch_log_group",
        _plain(
            "aws_cloudwatch_log_group",
            name="LogGroupName",
            retention_in_days="RetentionInDays",
            kms_key_id="KmsKeyId",
        ),
    ),
    "AWS::S3::Bucket": ("aws_s3_bucket", bucket),
    "AWS::S3::BucketPolicy": (
        "aws_s3_bucket_policy",
        _document("aws_s3_bucket_policy", "policy", bucket="Bucket"),
    ),
    "AWS::SQS::Queue": (
        "aws_sqs_queue",
        _plain(
            "aws_sqs_queue",
            name="QueueName",
            message_retention_seconds="MessageRetentionPeriod",
            sqs_managed_sse_enabled="SqsManagedSseEnabled",
        ),
    ),
    "AWS::SQS::QueuePolicy": ("aws_sqs_queue_policy", _queue_policy),
}
"""By CloudFormation type: the provider's type, and the function that writes it and its companions."""
