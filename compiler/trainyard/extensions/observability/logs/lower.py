"""Lower: the stack of logs: the bucket or the log group, and the role that writes to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.core.storage.stacks import bucket_origins, bucket_resources
from trainyard.extensions.observability.logs.plan import LogBucket, LogGroup
from trainyard.output import Artifact
from trainyard.output.artifact import Places
from trainyard.output.lowering.body import fields_given
from trainyard.output.lowering.templates import (
    STACKS,
    inline_policy,
    pod_identity,
    tag_list,
    template,
)
from trainyard.plan import Plan

_STACK = f"{STACKS}/logs.yaml"


def lower(plan: Plan) -> Iterator[Artifact]:
    """A stack of its own, where logs are kept."""
    bucket = plan.one(LogBucket)
    if bucket is not None:
        origins: Places = {}
        if bucket.made is not None:
            origins = bucket_origins(bucket.made)
        body = template(f"Logs of cluster {bucket.cluster}", _bucket(bucket))
        yield Artifact(body, _STACK, bucket.at, origins, format="cloudformation")
    group = plan.one(LogGroup)
    if group is not None:
        body = template(f"Logs of cluster {group.cluster}", _group(group))
        properties = ("Resources", "LogGroup", "Properties")
        places: Places = {
            (*properties, "RetentionInDays"): group.where("days"),
            (*properties, "KmsKeyId"): group.where("key"),
        }
        yield Artifact(body, _STACK, group.at, places, format="cloudformation")


def _group(group: LogGroup) -> dict[str, Any]:
    """The log group, and the role of Fluent Bit, which makes streams in it and writes to them (Fluent Bit 5.1.1,
    pipeline/outputs/cloudwatch, permissions)."""
    properties = fields_given(
        LogGroupName=group.group,
        RetentionInDays=group.days,
        KmsKeyId=group.key,
        Tags=tag_list(group.tags),
    )
    actions = ["logs:CreateLogStream", "logs:PutLogEvents"]
    streams = [{"Effect": "Allow", "Action": actions, "Resource": f"{group.arn}:*"}]
    role = {
        "AssumeRolePolicyDocument": dict(group.trust),
        "Policies": [inline_policy("logs", streams)],
    }
    identity = pod_identity(role, group.cluster, group.namespace, group.service_account)
    return {"LogGroup": {"Type": "AWS::Logs::LogGroup", "Properties": properties}, **identity}


def _bucket(bucket: LogBucket) -> dict[str, Any]:
    """The bucket, where it is made, and the role of Loki, which may do there what its store needs (Loki 3.7.6,
    operations/storage: IAM policy)."""
    made = {}
    if bucket.made is not None:
        made = bucket_resources(bucket.made)
    arn = f"arn:{bucket.partition}:s3:::{bucket.bucket}"
    objects = ["s3:GetObject", "s3:PutObject", "s3:DeleteObject"]
    statements = [
        {"Effect": "Allow", "Action": ["s3:ListBucket"], "Resource": arn},
        {"Effect": "Allow", "Action": objects, "Resource": f"{arn}/*"},
    ]
    if bucket.key is not None:
        # S3 user guide, UsingKMSEncryption: to upload in parts and to read.
        keys = ["kms:GenerateDataKey", "kms:Decrypt"]
        statements.append({"Effect": "Allow", "Action": keys, "Resource": bucket.key})
    policy = inline_policy("logs", statements)
    role = {"AssumeRolePolicyDocument": dict(bucket.trust), "Policies": [policy]}
    identity = pod_identity(role, bucket.cluster, bucket.namespace, bucket.service_account)
    return {**made, **identity}
