"""Lower: the stack of logs: the bucket, and the role that writes to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from compiler.core.storage.stacks import bucket_origins, bucket_resources
from compiler.lowering.stack import STACKS, inline_policy, pod_identity, template
from compiler.output import Artifact
from compiler.output.artifact import Places
from compiler.plan import Plan
from compiler.platforms.eks.logs.plan import LogBucket

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
