from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.cloud.plan import Bucket
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity


@rule("ACC010", severity=Severity.WARNING)
def bucket_public_access(bucket: Bucket) -> Iterator[Finding]:
    """A bucket does not block public access.

    S3 blocks public access to every new bucket since April 2023, CloudFormation's among them, unless the bucket says
    otherwise (Amazon S3 user guide, blocking public access; "Heads-Up: Amazon S3 Security Changes Are Coming in
    April of 2023"). Checkpoints and data sets are never meant for everybody. That a bucket names no encryption is not
    reported: S3 encrypts every object since 2023-01-05, and nothing switches it off (bucket-encryption).

    ## Fails

        Resources:
          Checkpoints:
            Type: AWS::S3::Bucket
            Properties:
              PublicAccessBlockConfiguration: {BlockPublicAcls: true, BlockPublicPolicy: false}

    ## Passes

        Resources:
          Checkpoints: {Type: AWS::S3::Bucket}

        Resources:
          Checkpoints:
            Type: AWS::S3::Bucket
            Properties:
              PublicAccessBlockConfiguration:
                {BlockPublicAcls: true, BlockPublicPolicy: true, IgnorePublicAcls: true, RestrictPublicBuckets: true}
    """
    for name, value in bucket.public_access.items():
        if value is False:
            yield Finding(
                f"bucket `{bucket.logical}` sets `{name}` off",
                bucket.where("public_access") / name,
                label="public access is no longer blocked",
                help="leave `PublicAccessBlockConfiguration` out: S3 then blocks all public access",
            )
