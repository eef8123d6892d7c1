"""Buckets, file systems and snapshots."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.extensions.terraform.lowering.expressions import Names
from trainyard.extensions.terraform.lowering.part import Part, Properties, tags_in, tags_of
from trainyard.output.lowering.body import fields_given


def bucket(properties: Properties, names: Names, address: str) -> Iterator[Part]:
    bucket = {"bucket": f"${{{address}.id}}"}
    tags = names.value(tags_in(properties))
    own = fields_given(bucket=properties["BucketName"], tags=tags)
    yield Part("aws_s3_bucket", own)
    encryption = properties["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    yield Part(
        "aws_s3_bucket_server_side_encryption_configuration",
        {**bucket, "rule": [_encryption(rule) for rule in encryption]},
        of="BucketEncryption",
    )
    lifecycle = properties.get("LifecycleConfiguration")
    if lifecycle is not None:
        yield Part(
            "aws_s3_bucket_lifecycle_configuration",
            {**bucket, "rule": [_lifecycle(rule) for rule in lifecycle["Rules"]]},
            of="LifecycleConfiguration",
        )
    (owner,) = properties["OwnershipControls"]["Rules"]
    owned = {"object_ownership": owner["ObjectOwnership"]}
    yield Part("aws_s3_bucket_ownership_controls", {**bucket, "rule": owned})
    public = properties["PublicAccessBlockConfiguration"]
    yield Part(
        "aws_s3_bucket_public_access_block",
        {
            **bucket,
            "block_public_acls": public["BlockPublicAcls"],
            "block_public_policy": public["BlockPublicPolicy"],
            "ignore_public_acls": public["IgnorePublicAcls"],
            "restrict_public_buckets": public["RestrictPublicBuckets"],
        },
    )
    versioning = {"status": properties["VersioningConfiguration"]["Status"]}
    yield Part(
        "aws_s3_bucket_versioning",
        {**bucket, "versioning_configuration": versioning},
        of="VersioningConfiguration",
    )


def _encryption(rule: Properties) -> dict[str, Any]:
    default = rule["ServerSideEncryptionByDefault"]
    applied = fields_given(
        sse_algorithm=default["SSEAlgorithm"], kms_master_key_id=default.get("KMSMasterKeyID")
    )
    return fields_given(
        apply_server_side_encryption_by_default=applied,
        bucket_key_enabled=rule.get("BucketKeyEnabled"),
    )


def _lifecycle(rule: Properties) -> dict[str, Any]:
    uploads = rule.get("AbortIncompleteMultipartUpload")
    versions = rule.get("NoncurrentVersionExpiration")
    moves = [
        {"days": move["TransitionInDays"], "storage_class": move["StorageClass"]}
        for move in rule.get("Transitions", [])
    ]
    rendered = fields_given(id=rule["Id"], status=rule["Status"], transition=moves)
    rendered["filter"] = {
        "prefix": rule.get("Prefix", "")
    }  # every object, where no beginning is said
    if uploads is not None:
        days = uploads["DaysAfterInitiation"]
        rendered["abort_incomplete_multipart_upload"] = {"days_after_initiation": days}
    if versions is not None:
        days = versions["NoncurrentDays"]
        rendered["noncurrent_version_expiration"] = {"noncurrent_days": days}
    if "ExpirationInDays" in rule:
        rendered["expiration"] = {"days": rule["ExpirationInDays"]}
    return rendered


def file_system(properties: Properties, names: Names, address: str) -> Iterator[Part]:
    lustre = properties["LustreConfiguration"]
    metadata = lustre.get("MetadataConfiguration")
    metadata_block = None
    if metadata is not None:
        metadata_block = fields_given(mode=metadata.get("Mode"), iops=metadata.get("Iops"))
    arguments = fields_given(
        storage_capacity=properties["StorageCapacity"],
        storage_type=properties["StorageType"],
        file_system_type_version=properties["FileSystemTypeVersion"],
        kms_key_id=properties.get("KmsKeyId"),
        subnet_ids=properties["SubnetIds"],
        security_group_ids=properties["SecurityGroupIds"],
        deployment_type=lustre["DeploymentType"],
        per_unit_storage_throughput=lustre.get("PerUnitStorageThroughput"),
        drive_cache_type=lustre.get("DriveCacheType"),
        data_compression_type=lustre["DataCompressionType"],
        metadata_configuration=metadata_block,
        efa_enabled=lustre.get("EfaEnabled"),
        automatic_backup_retention_days=lustre.get("AutomaticBackupRetentionDays"),
        daily_automatic_backup_start_time=lustre.get("DailyAutomaticBackupStartTime"),
        copy_tags_to_backups=lustre.get("CopyTagsToBackups"),
        weekly_maintenance_start_time=lustre.get("WeeklyMaintenanceStartTime"),
        tags=tags_in(properties),
    )
    yield Part("aws_fsx_lustre_file_system", names.value(arguments))


def association(properties: Properties, names: Names, address: str) -> Iterator[Part]:
    s3 = properties.get("S3", {})
    policies = {
        argument: {"events": s3[name]["Events"]}
        for argument, name in (
            ("auto_import_policy", "AutoImportPolicy"),
            ("auto_export_policy", "AutoExportPolicy"),
        )
        if name in s3
    }
    arguments = fields_given(
        file_system_id=properties["FileSystemId"],
        file_system_path=properties["FileSystemPath"],
        data_repository_path=properties["DataRepositoryPath"],
        batch_import_meta_data_on_create=properties["BatchImportMetaDataOnCreate"],
        s3=policies or None,
        tags=tags_in(properties),
    )
    yield Part("aws_fsx_data_repository_association", names.value(arguments))


def snapshots(properties: Properties, names: Names, address: str) -> Iterator[Part]:
    details = properties["PolicyDetails"]
    schedules = [
        {
            "name": schedule["Name"],
            "create_rule": {
                "interval": schedule["CreateRule"]["Interval"],
                "interval_unit": schedule["CreateRule"]["IntervalUnit"],
            },
            "retain_rule": {"count": schedule["RetainRule"]["Count"]},
            "copy_tags": schedule["CopyTags"],
        }
        for schedule in details["Schedules"]
    ]
    arguments = fields_given(
        description=properties["Description"],
        state=properties["State"],
        execution_role_arn=properties["ExecutionRoleArn"],
        policy_details={
            "resource_types": details["ResourceTypes"],
            "target_tags": tags_of(details["TargetTags"]),
            "schedule": schedules,
        },
        tags=tags_in(properties),
    )
    yield Part("aws_dlm_lifecycle_policy", names.value(arguments))
