"""What is said of logs: where they are kept, for how long, and how much is expected."""

from pydantic import Field

from compiler.plan.units import Duration
from compiler.spec.aws import Bucket, KmsKey
from compiler.spec.base import SpecModel
from compiler.spec.types import LogRetention, Size


class Loki(SpecModel):
    """Loki in the cluster, whose lines are in S3, and Alloy on each node, which sends them."""

    retention: LogRetention = Field(
        Duration(672 * 3600),
        description="How long lines are kept, in whole days; Loki deletes them when they are older.",
        examples=["2160h"],
    )
    bucket: Bucket | None = Field(
        None,
        description="A bucket that exists, for this cluster's logs alone; unset: the bootstrap makes one.",
        examples=["logs-111122223333"],
    )
    kms_key: KmsKey | None = Field(
        None,
        description="The KMS key that encrypts the objects of the bucket; unset: keys of S3 (SSE-S3).",
        examples=["arn:aws:kms:us-west-2:111122223333:key/0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"],
    )
    per_pod_day: Size | None = Field(
        None,
        description="How much a pod of a job is assumed to write in a day, for sizes and costs; derived: `100Mi`.",
        examples=["1Gi"],
    )


class Logs(SpecModel):
    """Where the logs of pods are kept."""

    loki: Loki = Field(
        description="Loki in the cluster, with its lines in S3.", examples=[{"retention": "2160h"}]
    )
