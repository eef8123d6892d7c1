"""The stacks of created storage: one CloudFormation template for each.

What holds data is kept when its stack is deleted or replaced (``DeletionPolicy`` and ``UpdateReplacePolicy``,
CloudFormation template reference, resource attributes). The exports of eksctl: v0.230.0, pkg/cfn/builder/vpc_ipv4.go
and cluster.go,
``${AWS::StackName}::VPC`` and ``::ClusterSecurityGroupId`` of the stack ``eksctl-NAME-cluster``. It exports its private
subnets too, joined, in the order of a Go map, which is another each time: so the subnet of a zone is a parameter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.catalog.lustre import PORTS
from trainyard.catalog.managed_policies import arn_of
from trainyard.core.storage.plan import (
    MadeBucket,
    MadeFileSystem,
    MadeSnapshots,
    MadeStorage,
    Repository,
)
from trainyard.output import Artifact
from trainyard.output.artifact import Places
from trainyard.output.lowering.body import fields_given
from trainyard.output.lowering.templates import KEPT, STACKS, tag_list, template

SUBNET = "Subnet"
_ITSELF = ("FromItself", "ToItself")
Origins = Places


def bucket_stack(bucket: MadeBucket) -> Artifact:
    """A stack of a bucket alone."""
    outputs = {"Name": {"Value": {"Ref": "Bucket"}}}
    return _artifact(
        bucket, f"Bucket {bucket.bucket}", bucket_resources(bucket), outputs, bucket_origins(bucket)
    )


def bucket_resources(bucket: MadeBucket) -> dict[str, Any]:
    """A bucket that takes requests by TLS alone and nothing from the public."""
    return {
        "Bucket": {"Type": "AWS::S3::Bucket", **KEPT, "Properties": _bucket(bucket)},
        "TlsOnly": {
            "Type": "AWS::S3::BucketPolicy",
            **KEPT,
            "Properties": {"Bucket": {"Ref": "Bucket"}, "PolicyDocument": _tls_only(bucket)},
        },
    }


def bucket_origins(bucket: MadeBucket) -> Origins:
    """Where the spec says what the bucket is."""
    at = ("Resources", "Bucket", "Properties")
    return {
        (*at, "BucketName"): bucket.where("bucket"),
        (*at, "VersioningConfiguration"): bucket.where("versioning"),
        (*at, "BucketEncryption"): bucket.where("key"),
        (*at, "LifecycleConfiguration"): bucket.where("transitions"),
    }


def _artifact(
    made: MadeStorage,
    description: str,
    resources: Mapping[str, Any],
    outputs: Mapping[str, Any],
    origins: Origins,
    **sections: Any,
) -> Artifact:
    whose = f"storage {made.name} of cluster {made.cluster}"
    body = template(f"{description}, {whose}", resources, **fields_given(**sections))
    body["Outputs"] = dict(outputs)
    path = f"{STACKS}/{made.stack}.yaml"
    return Artifact(body, path, made.at, origins, format="cloudformation")


def _bucket(bucket: MadeBucket) -> dict[str, Any]:
    # AWS::S3::Bucket (CloudFormation template reference).
    default = {"SSEAlgorithm": "AES256"}
    if bucket.key is not None:
        default = {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": bucket.key}
    encryption = fields_given(
        ServerSideEncryptionByDefault=default, BucketKeyEnabled=True if bucket.key else None
    )
    public = ("BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets")
    return fields_given(
        BucketName=bucket.bucket,
        BucketEncryption={"ServerSideEncryptionConfiguration": [encryption]},
        LifecycleConfiguration={"Rules": list(_rules(bucket))},
        OwnershipControls={"Rules": [{"ObjectOwnership": "BucketOwnerEnforced"}]},
        PublicAccessBlockConfiguration=dict.fromkeys(public, True),
        VersioningConfiguration={"Status": "Enabled" if bucket.versioning else "Suspended"},
        Tags=tag_list(bucket.tags),
    )


def _rules(bucket: MadeBucket) -> Iterator[dict[str, Any]]:
    """Rules of the lifecycle, each of which holds for every object but the last, which says for which."""
    yield {
        "Id": "incomplete-uploads",
        "Status": "Enabled",
        "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": bucket.upload_days},
    }
    if bucket.noncurrent_days is not None:
        yield {
            "Id": "noncurrent-versions",
            "Status": "Enabled",
            "NoncurrentVersionExpiration": {"NoncurrentDays": bucket.noncurrent_days},
        }
    if bucket.transitions:
        moves = [
            {"StorageClass": storage_class, "TransitionInDays": days}
            for days, storage_class in bucket.transitions
        ]
        yield {"Id": "transitions", "Status": "Enabled", "Transitions": moves}
    if bucket.expiration is not None:
        prefix, days = bucket.expiration
        yield {"Id": "expiration", "Status": "Enabled", "Prefix": prefix, "ExpirationInDays": days}


def _tls_only(bucket: MadeBucket) -> dict[str, Any]:
    # S3 user guide, security-best-practices: enforce encryption of data in transit.
    arn = f"arn:{bucket.partition}:s3:::{bucket.bucket}"
    statement = {
        "Sid": "TlsOnly",
        "Effect": "Deny",
        "Principal": "*",
        "Action": "s3:*",
        "Resource": [arn, f"{arn}/*"],
        "Condition": {"Bool": {"aws:SecureTransport": "false"}},
    }
    return {"Version": "2012-10-17", "Statement": [statement]}


def snapshot_stack(made: MadeSnapshots) -> Artifact:
    """The policy of Amazon Data Lifecycle Manager for the volumes of a storage, by their tag, and its role."""
    key = "trainyard-storage"
    # AWS::DLM::LifecyclePolicy (CloudFormation template reference).
    schedule = {
        "Name": made.name,
        "CreateRule": {"Interval": made.hours, "IntervalUnit": "HOURS"},
        "RetainRule": {"Count": made.keep},
        "CopyTags": True,
    }
    details = {
        "ResourceTypes": ["VOLUME"],
        "TargetTags": [{"Key": key, "Value": made.tags[key]}],
        "Schedules": [schedule],
    }
    trust = {
        "Effect": "Allow",
        "Principal": {"Service": "dlm.amazonaws.com"},
        "Action": "sts:AssumeRole",
    }
    # EBS user guide, service-role: the managed policy for snapshots.
    managed = arn_of("AWSDataLifecycleManagerServiceRole", made.partition)
    resources = {
        "Role": {
            "Type": "AWS::IAM::Role",
            "Properties": {
                "AssumeRolePolicyDocument": {"Version": "2012-10-17", "Statement": [trust]},
                "ManagedPolicyArns": [managed],
            },
        },
        "Policy": {
            "Type": "AWS::DLM::LifecyclePolicy",
            "Properties": {
                "Description": f"Snapshots of storage {made.name}",
                "State": "ENABLED",
                "ExecutionRoleArn": {"Fn::GetAtt": ["Role", "Arn"]},
                "PolicyDetails": details,
                "Tags": tag_list(made.tags),
            },
        },
    }
    what = f"Snapshots of storage {made.name} of cluster {made.cluster}"
    body = template(what, resources)
    path = f"{STACKS}/snapshots-{made.name}.yaml"
    origins: Origins = {("Resources", "Policy", "Properties"): made.at}
    return Artifact(body, path, made.at, origins, format="cloudformation")


def file_system_stack(made: MadeFileSystem) -> Artifact:
    """A file system with its links to S3, its security group, and the rules by which nodes reach it."""
    rules = _security_rules(made)
    resources: dict[str, Any] = {
        "FileSystem": {
            "Type": "AWS::FSx::FileSystem",
            # FSx looks at the rules when it makes the file system (user guide, cannot-create-fs).
            "DependsOn": [name for name in rules if name.endswith(_ITSELF)],
            **KEPT,
            "Properties": _file_system(made),
        },
        "SecurityGroup": {
            "Type": "AWS::EC2::SecurityGroup",
            **KEPT,
            "Properties": _security_group(made),
        },
        **rules,
    }
    at = ("Resources", "FileSystem", "Properties")
    lustre = (*at, "LustreConfiguration")
    origins: Origins = {
        (*at, "StorageCapacity"): made.where("size"),
        (*at, "StorageType"): made.where("throughput"),
        (*at, "FileSystemTypeVersion"): made.where("version"),
        (*at, "KmsKeyId"): made.where("key"),
        (*at, "SubnetIds"): made.where("zone"),
        (*lustre, "DeploymentType"): made.where("deployment"),
        (*lustre, "PerUnitStorageThroughput"): made.where("throughput"),
        (*lustre, "DriveCacheType"): made.where("drive_cache"),
        (*lustre, "DataCompressionType"): made.where("compression"),
        (*lustre, "MetadataConfiguration"): made.where("metadata"),
        (*lustre, "EfaEnabled"): made.where("efa"),
        (*lustre, "AutomaticBackupRetentionDays"): made.where("backup_days"),
        (*lustre, "CopyTagsToBackups"): made.where("backup_days"),
        (*lustre, "DailyAutomaticBackupStartTime"): made.where("backup_time"),
        (*lustre, "WeeklyMaintenanceStartTime"): made.where("maintenance"),
    }
    for repository in made.repositories:
        name = _logical(repository.path)
        resources[name] = _association(made, repository)
        origins["Resources", name] = repository.at
    outputs = {
        "Id": {"Value": {"Ref": "FileSystem"}},
        "DnsName": {"Value": {"Fn::GetAtt": ["FileSystem", "DNSName"]}},
        "MountName": {"Value": {"Fn::GetAtt": ["FileSystem", "LustreMountName"]}},
    }
    parameters = None
    if made.subnet is None:
        what = f"The private subnet of {made.zone} in the VPC that eksctl makes"
        parameter = {"Type": "AWS::EC2::Subnet::Id", "Description": what}
        parameters = {SUBNET: parameter}
    return _artifact(
        made,
        "File system",
        resources,
        outputs,
        origins,
        # The script reads the zone here.
        Metadata={"Zone": made.zone} if made.subnet is None else None,
        Parameters=parameters,
    )


def _file_system(made: MadeFileSystem) -> dict[str, Any]:
    # AWS::FSx::FileSystem (CloudFormation template reference). What AWS would choose is set explicitly where its
    # documents disagree (the retention of backups) or its choice is old (the version of Lustre).
    is_scratch = made.deployment.startswith("SCRATCH")
    metadata = fields_given(Mode=made.metadata, Iops=made.iops)
    lustre = fields_given(
        DeploymentType=made.deployment,
        PerUnitStorageThroughput=made.throughput,
        DriveCacheType=made.drive_cache,
        DataCompressionType=made.compression,
        MetadataConfiguration=metadata or None,
        EfaEnabled=made.efa or None,
        AutomaticBackupRetentionDays=None if is_scratch else made.backup_days,
        DailyAutomaticBackupStartTime=made.backup_time,
        CopyTagsToBackups=bool(made.backup_days) or None,
        WeeklyMaintenanceStartTime=made.maintenance,
    )
    subnet: str | dict[str, str] = {"Ref": SUBNET}
    if made.subnet is not None:
        subnet = made.subnet
    return fields_given(
        FileSystemType="LUSTRE",
        FileSystemTypeVersion=made.version,
        StorageCapacity=made.size,
        StorageType="HDD" if made.disks else "SSD",
        KmsKeyId=made.key,
        SubnetIds=[subnet],
        SecurityGroupIds=[{"Ref": "SecurityGroup"}],
        LustreConfiguration=lustre,
        Tags=_tags(made),
    )


def _security_group(made: MadeFileSystem) -> dict[str, Any]:
    vpc: str | dict[str, str] = _export(made, "VPC")
    if made.vpc is not None:
        vpc = made.vpc
    everywhere = {"IpProtocol": "-1", "CidrIp": "0.0.0.0/0"}
    return fields_given(
        GroupDescription=f"File system {made.name} of cluster {made.cluster}",
        VpcId=vpc,
        SecurityGroupEgress=[everywhere],
        Tags=_tags(made),
    )


def _tags(made: MadeFileSystem) -> list[dict[str, str]]:
    name = f"{made.cluster}-{made.name}"
    return tag_list({"Name": name, **made.tags})


def _export(made: MadeFileSystem, name: str) -> dict[str, str]:
    return {"Fn::ImportValue": f"eksctl-{made.cluster}-cluster::{name}"}


def _security_rules(made: MadeFileSystem) -> dict[str, Any]:
    """Rules between the file system and itself, which stay with it, and between it and the nodes, which do not: a group
    that another one's rule names cannot be deleted, and that of the cluster goes with the cluster.

    Source: FSx for Lustre user guide, limit-access-security-groups: the ports both ways, and with EFA everything.
    """
    own = {"Ref": "SecurityGroup"}
    nodes = {"Fn::ImportValue": made.nodes}
    rules: dict[str, Any] = {}
    for index, ports in enumerate(PORTS, 1):
        allowed = _tcp(*ports)
        rule = f"Lustre{index}"
        from_itself = _ingress(own, own, allowed)
        rules[f"{rule}FromItself"] = {**from_itself, **KEPT}
        rules[f"{rule}FromNodes"] = _ingress(own, nodes, allowed)
        rules[f"{rule}ToNodes"] = _ingress(nodes, own, allowed)
    if made.efa:
        # EFA user guide, security group: everything from and to the group itself; an address block is not enough.
        allowed = {"IpProtocol": "-1"}
        rules["EfaFromItself"] = {**_ingress(own, own, allowed), **KEPT}
        rules["EfaToItself"] = {**_egress(own, own, allowed), **KEPT}
        rules["EfaFromNodes"] = _ingress(own, nodes, allowed)
        rules["EfaToNodes"] = _egress(own, nodes, allowed)
        rules["EfaNodesFrom"] = _ingress(nodes, own, allowed)
        rules["EfaNodesTo"] = _egress(nodes, own, allowed)
    return rules


def _tcp(first: int, last: int) -> dict[str, Any]:
    return {"IpProtocol": "tcp", "FromPort": first, "ToPort": last}


def _ingress(group: Any, source: Any, allowed: Mapping[str, Any]) -> dict[str, Any]:
    properties = {"GroupId": group, "SourceSecurityGroupId": source, **allowed}
    return {"Type": "AWS::EC2::SecurityGroupIngress", "Properties": properties}


def _egress(group: Any, target: Any, allowed: Mapping[str, Any]) -> dict[str, Any]:
    properties = {"GroupId": group, "DestinationSecurityGroupId": target, **allowed}
    return {"Type": "AWS::EC2::SecurityGroupEgress", "Properties": properties}


def _association(made: MadeFileSystem, repository: Repository) -> dict[str, Any]:
    # AWS::FSx::DataRepositoryAssociation (CloudFormation template reference).
    s3 = fields_given(
        AutoImportPolicy=_events(repository.imports), AutoExportPolicy=_events(repository.exports)
    )
    return {
        "Type": "AWS::FSx::DataRepositoryAssociation",
        **KEPT,
        "Properties": fields_given(
            FileSystemId={"Ref": "FileSystem"},
            FileSystemPath=repository.path,
            DataRepositoryPath=repository.s3,
            BatchImportMetaDataOnCreate=repository.import_on_create,
            S3=s3,
            Tags=tag_list(made.tags),
        ),
    }


def _events(events: tuple[str, ...]) -> dict[str, Any] | None:
    if events:
        return {"Events": list(events)}
    return None


def _logical(path: str) -> str:
    """The logical name of a link: the folder in hexadecimal where letters and digits do not say it alone."""
    plain = path.strip("/")
    if plain.isalnum() and plain.isascii():
        return f"Link{plain}"
    return f"Link0x{plain.encode().hex()}"
