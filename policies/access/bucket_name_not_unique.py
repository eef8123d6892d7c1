from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.core.cloud.plan import Bucket
from trainyard.judge.model.worded import worded
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity

_ACCOUNT = r"[0-9]{12}|AWS::AccountId|AWS::StackId|Account"
_NAMESPACED = "-an"


@rule("ACC022", severity=Severity.NOTE)
def bucket_name_not_unique(bucket: Bucket) -> Iterator[Finding]:
    """A template gives a bucket a name that another account may have.

    Names of buckets are unique among all accounts of a partition (S3 user guide, bucket naming rules): where somebody
    has the name, the stack fails, and so does the same stack in another account or region. Without `BucketName`
    CloudFormation makes one up; with `${AWS::AccountId}` and `${AWS::Region}` in it nobody else has it.

    ## Fails

        Resources:
          Data:
            Type: AWS::S3::Bucket
            Properties:
              BucketName: training-data-jakarta
              PublicAccessBlockConfiguration: {BlockPublicAcls: true, BlockPublicPolicy: true, IgnorePublicAcls: true,
                RestrictPublicBuckets: true}

    ## Passes

        Resources:
          Data:
            Type: AWS::S3::Bucket
            Properties:
              BucketName: !Sub "training-data-${AWS::AccountId}-${AWS::Region}"
              PublicAccessBlockConfiguration: {BlockPublicAcls: true, BlockPublicPolicy: true, IgnorePublicAcls: true,
                RestrictPublicBuckets: true}
    """
    name = bucket.name
    if name is None or name.endswith(_NAMESPACED) or re.search(_ACCOUNT, name):
        return
    if "${" in name:
        return  # a parameter may have the account
    yield Finding(
        f"bucket `{bucket.logical}` is named `{name}`, which any account may have",
        bucket.where("name"),
        label="names of buckets are unique in the world",
        help=worded(
            bucket,
            'write `!Sub "NAME-${AWS::AccountId}-${AWS::Region}"`, or leave the name out',
            "write `bucket_prefix` instead, or a name with the account id in it",
        ),
    )
