"""The spec of logs: one key."""

from typing import Annotated, Literal

from trainyard.language.models.aws import GeneralBucket, KmsKey
from trainyard.language.models.base import SpecModel
from trainyard.language.models.choice import OneOf
from trainyard.language.models.field import Field
from trainyard.language.models.section import Section
from trainyard.language.models.types import LogRetention, Size, Whole
from trainyard.language.units import Duration

RetentionInDays = Literal[
    1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653
]  # fmt: skip
"""CloudWatch Logs API, PutRetentionPolicy retentionInDays."""


class Loki(SpecModel):
    """Loki in the cluster, whose lines are in S3, and Alloy on each node, which sends them."""

    retention: LogRetention = Field(
        Duration(672 * 3600),
        description="How long lines are kept, in whole days; Loki deletes them when they are older.",
        examples=["2160h"],
        bound="whole days, 24h or more",
        source="Loki 3.7.6, limits_config.retention_period; S3 API, lifecycle Days",
    )
    bucket: GeneralBucket | None = Field(
        None,
        description="A bucket that exists, for this cluster's logs alone; unset: the bootstrap makes one.",
        examples=["logs-111122223333"],
        bound="the name of an S3 bucket; derived: 63 characters at most",
        source="S3 user guide, bucketnamingrules",
        codes=("RES126",),
    )
    kms_key: KmsKey | None = Field(
        None,
        description="The KMS key that encrypts the objects of the bucket; unset: keys of S3 (SSE-S3).",
        examples=["arn:aws:kms:us-west-2:111122223333:key/0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"],
        bound="a key of KMS in the cluster's Region",
        source="KMS developer guide, key ARN",
        codes=("RES121",),
    )
    per_pod_day: Size | None = Field(
        None,
        description="How much a pod of a job is assumed to write in a day, for sizes and costs; derived: `100Mi`.",
        examples=["1Gi"],
        bound="whole GiB or MiB; all pods together up to 50Gi a day",
        source="chart loki 18.11.0, values.yaml: deploymentMode",
        codes=("RES340",),
    )


class CloudWatch(SpecModel):
    """A log group of CloudWatch, and Fluent Bit on each node, which sends lines to it."""

    retention_in_days: Annotated[RetentionInDays, Whole] = Field(
        30,
        description="For how many days CloudWatch keeps lines.",
        examples=[90],
        bound="1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, "
        "3288, 3653",
        source="CloudWatch Logs API, PutRetentionPolicy",
    )
    kms_key: KmsKey | None = Field(
        None,
        description="The KMS key that encrypts the log group, which CloudWatch may use by the key's own policy; unset: "
        "a key of CloudWatch.",
        examples=["arn:aws:kms:us-west-2:111122223333:key/0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"],
        bound="a key of KMS in the cluster's Region",
        source="KMS developer guide, key ARN",
        codes=("RES121",),
    )
    per_pod_day: Size | None = Field(
        None,
        description="How much a pod of a job is assumed to write in a day, for the costs of the report; derived: "
        "`100Mi`.",
        examples=["1Gi"],
        bound="whole GiB or MiB",
        source="an assumption of the report",
    )


class Logs(OneOf):
    """Where the logs of pods are kept: exactly one of ``loki`` and ``cloudWatch``."""

    loki: Loki | None = Field(
        None,
        description="Loki in the cluster, with its lines in S3.",
        examples=[{"retention": "2160h"}],
    )
    cloud_watch: CloudWatch | None = Field(
        None,
        description="CloudWatch Logs, by Fluent Bit on each node.",
        examples=[{"retentionInDays": 90}],
    )


class LogsSection(Section):
    """The logs of pods."""

    logs: Logs | None = Field(
        None,
        description="Where the logs of pods are kept after the pods are gone; unset: on their nodes alone.",
        examples=[{"loki": {}}],
    )


SECTION = LogsSection
