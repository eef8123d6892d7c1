"""Types of values that AWS has: identifiers, ARNs, names of what its services make, addresses."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BeforeValidator

from trainyard.language.models import addresses, buckets, keys
from trainyard.language.models import checks as check
from trainyard.language.models.checks import matched

# IAM's pathType, roleNameType and userNameType (botocore 1.44.5, iam service-2).
_ARN = r"arn:aws[a-z-]*:iam::\d{12}:(role|user)/([!-~]+/)?[\w+=,.@-]{1,64}"
# EC2 user guide, resource IDs: 8 hex digits, or 17 since 2016.
_ID = r"[0-9a-f]{8}([0-9a-f]{9})?"
_IDS = "EC2 user guide, resource IDs"
Region = Annotated[str, BeforeValidator(check.region)]
Zone = Annotated[str, BeforeValidator(check.zone)]
ZoneId = Annotated[
    str,
    BeforeValidator(
        matched(
            r"[a-z]+[0-9]+-az[0-9]+",
            "the id of a zone",
            "use1-az4",
            source="EC2 API, AvailabilityZone ZoneId",
        )
    ),
]
InstanceType = Annotated[
    str, BeforeValidator(matched(r"[a-z0-9-]+\.[a-z0-9-]+", "an instance type", "p5.48xlarge"))
]
PublicCidr = Annotated[str, BeforeValidator(addresses.public_cidr)]
IpAddress = Annotated[str, BeforeValidator(addresses.address)]
VpcCidr = Annotated[str, BeforeValidator(addresses.vpc_cidr)]
SubnetCidr = Annotated[str, BeforeValidator(addresses.subnet_cidr)]
# ECR API, CreateRepository repositoryName.
_ECR_PATH = r"[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*"
EcrName = Annotated[
    str,
    BeforeValidator(
        matched(
            _ECR_PATH,
            "the name of an ECR repository",
            "research/train",
            longest=256,
            source="ECR API, CreateRepository repositoryName",
        )
    ),
]
# ECR API, CreatePullThroughCacheRule (botocore 1.44.5).
CachePrefix = Annotated[
    str,
    BeforeValidator(
        matched(
            rf"(?=..){_ECR_PATH}",
            "a prefix of ECR repositories",
            "research/ecr-public",
            longest=30,
            source="ECR API, CreatePullThroughCacheRule ecrRepositoryPrefix",
        )
    ),
]
CacheSecret = Annotated[
    str,
    BeforeValidator(
        matched(
            r"arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:\d{12}:secret:ecr-pullthroughcache/[A-Za-z0-9/_+=.@-]+",
            "the ARN of a secret that is called `ecr-pullthroughcache/…`",
            "arn:aws:secretsmanager:us-west-2:111122223333:secret:ecr-pullthroughcache/docker-hub-AbCdEf",
            longest=612,
            source="ECR API, CreatePullThroughCacheRule credentialArn",
        )
    ),
]
CodeConnection = Annotated[
    str,
    BeforeValidator(
        matched(
            r"arn:aws[a-z-]*:(codeconnections|codestar-connections):[a-z0-9-]+:\d{12}:connection/[0-9a-f-]{36}",
            "the ARN of a connection",
            "arn:aws:codeconnections:us-west-2:111122223333:connection/0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9",
            source="AWS CodeConnections API, CreateConnection",
        )
    ),
]
# FSx API, FileSystemTypeVersion.
LustreVersion = Annotated[
    str,
    BeforeValidator(
        matched(
            r"2\.(10|12|15)",
            "a version of FSx for Lustre (2.10, 2.12, 2.15)",
            "2.15",
            source="FSx API, FileSystemTypeVersion",
        )
    ),
]
# EKS API, DescribeAddonVersions: addonName and addonVersion are texts; these are the forms that EKS lists.
AddonName = Annotated[
    str,
    BeforeValidator(
        matched(
            r"[a-z0-9][a-z0-9_-]*",
            "the name of an EKS add-on",
            "aws-ebs-csi-driver",
            longest=100,
            source="EKS API, DescribeAddonVersions",
        )
    ),
]
AddonVersion = Annotated[
    str,
    BeforeValidator(
        matched(
            r"v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?",
            "a build of an EKS add-on",
            "v1.63.1-eksbuild.1",
            longest=100,
            source="EKS API, DescribeAddonVersions",
        )
    ),
]
AmiAlias = Annotated[
    str,
    BeforeValidator(
        matched(
            r"[a-z0-9]+@(latest|v[0-9.]+)",
            "an AMI alias of Karpenter",
            "al2023@v20260714",
            source="EC2NodeClass v1.14.1, amiSelectorTerms.alias",
        )
    ),
]
StoredName = Annotated[
    str,
    BeforeValidator(
        matched(
            r"[A-Za-z0-9/_+=.@-]+",
            "the name of a secret of Secrets Manager",
            "team-a/hf-token",
            longest=512,
            source="Secrets Manager API, CreateSecret Name",
        )
    ),
]
KmsKeyArn = Annotated[
    str,
    BeforeValidator(
        matched(
            r"arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:key/[A-Za-z0-9-]+",
            "the ARN of a key of KMS",
            "arn:aws:kms:us-west-2:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab",
            source="KMS developer guide, key ARN",
        )
    ),
]
Account = Annotated[
    str,
    BeforeValidator(
        matched(
            r"\d{12}",
            "an AWS account id (12 digits, quoted)",
            "111122223333",
            source="AWS account management guide, account identifiers",
        )
    ),
]
Arn = Annotated[
    str,
    BeforeValidator(
        matched(
            _ARN,
            "the ARN of an IAM role or user",
            "arn:aws:iam::111122223333:role/platform",
            longest=2048,
            source="IAM service model, pathType and roleNameType",
        )
    ),
]
PolicyArn = Annotated[
    str,
    BeforeValidator(
        matched(
            r"arn:aws(-cn|-us-gov)?:iam::(aws|\d{12}):policy/[\w+=,.@/-]+",
            "the ARN of an IAM policy",
            "arn:aws:iam::111122223333:policy/dns",
            longest=2048,
            source="IAM service model, pathType and policyNameType",
        )
    ),
]
TrainingPlanArn = Annotated[
    str,
    BeforeValidator(
        matched(
            r"arn:aws[a-z-]*:sagemaker:[a-z0-9-]+:\d{12}:training-plan/[a-zA-Z0-9](-*[a-zA-Z0-9]){0,63}",
            "the ARN of a SageMaker training plan",
            "arn:aws:sagemaker:us-west-2:111122223333:training-plan/p5-december",
            longest=2048,
            source="SageMaker API, TrainingPlanArn and TrainingPlanName (botocore 1.44.5)",
        )
    ),
]
VpcId = Annotated[
    str,
    BeforeValidator(
        matched(
            rf"vpc-{_ID}", "a VPC id (8 or 17 hex digits)", "vpc-0a1b2c3d4e5f60718", source=_IDS
        )
    ),
]
SubnetId = Annotated[
    str,
    BeforeValidator(
        matched(
            rf"subnet-{_ID}",
            "a subnet id (8 or 17 hex digits)",
            "subnet-0a1b2c3d4e5f60718",
            source=_IDS,
        )
    ),
]
SecurityGroupId = Annotated[
    str,
    BeforeValidator(
        matched(rf"sg-{_ID}", "a sg id (8 or 17 hex digits)", "sg-0a1b2c3d4e5f60718", source=_IDS)
    ),
]
ReservationId = Annotated[
    str,
    BeforeValidator(
        matched(
            rf"cr-{_ID}",
            "a capacity reservation id (8 or 17 hex digits)",
            "cr-0a1b2c3d4e5f60718",
            source=_IDS,
        )
    ),
]
FileSystemId = Annotated[
    str,
    BeforeValidator(
        matched(
            r"fs-[0-9a-f]{8,17}",
            "an FSx file system id",
            "fs-0a1b2c3d4e5f60718",
            source="FSx API, FileSystemId",
        )
    ),
]
VolumeId = Annotated[
    str,
    BeforeValidator(
        matched(
            r"vol-([0-9a-f]{8}|[0-9a-f]{17})",
            "an EBS volume id",
            "vol-0a1b2c3d4e5f60718",
            source="EC2 API, Volume",
        )
    ),
]
# FSx API, WeeklyMaintenanceStartTime, DailyAutomaticBackupStartTime and Namespace (botocore 1.44.5).
DayTime = Annotated[
    str,
    BeforeValidator(
        matched(
            r"([01]\d|2[0-3]):[0-5]\d", "a time of the day", "03:00", source="FSx API, DailyTime"
        )
    ),
]
WeekTime = Annotated[
    str,
    BeforeValidator(
        matched(
            r"[1-7]:([01]\d|2[0-3]):[0-5]\d",
            "a day of the week (1 is Monday) and a time",
            "7:04:00",
            source="FSx API, WeeklyTime",
        )
    ),
]
LustrePath = Annotated[
    str,
    BeforeValidator(
        matched(
            r"/([\w.+=@-]+(/[\w.+=@-]+)*/?)?",
            "a folder of the file system, from `/`",
            "/datasets",
            longest=4096,
            source="FSx API, Namespace",
        )
    ),
]
# KMS developer guide, concepts: key ARN; multi-Region keys begin with `mrk-`.
KmsKey = Annotated[
    str,
    BeforeValidator(
        matched(
            r"arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:key/"
            r"([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|mrk-[0-9a-f]{32})",
            "the ARN of a KMS key",
            "arn:aws:kms:us-west-2:111122223333:key/0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9",
            source="KMS developer guide, key ARN",
        )
    ),
]
# SNS API, CreateTopic Name: 256 letters, digits, `-` and `_`; topics of FIFO end in `.fifo`.
TopicArn = Annotated[
    str,
    BeforeValidator(
        matched(
            r"arn:aws[a-z-]*:sns:[a-z0-9-]+:\d{12}:[A-Za-z0-9_-]{1,256}(\.fifo)?",
            "the ARN of a topic of SNS",
            "arn:aws:sns:us-west-2:111122223333:gpu-alerts",
            longest=512,
            source="SNS API, CreateTopic Name",
        )
    ),
]
Bucket = Annotated[str, BeforeValidator(buckets.bucket)]
GeneralBucket = Annotated[
    str, AfterValidator(buckets.general_bucket), BeforeValidator(buckets.bucket)
]
Prefix = Annotated[str, BeforeValidator(buckets.prefix)]
# EC2 CreatePlacementGroup GroupName: up to 255 ASCII characters.
PlacementGroupName = Annotated[
    str,
    BeforeValidator(
        matched(
            r"[!-~]([ -~]*[!-~])?",
            "the name of a placement group",
            "research-a100",
            longest=255,
            source="EC2 API, CreatePlacementGroup",
        )
    ),
]
# Given by the service: "fsx" for SCRATCH_1, else up to eight characters (botocore 1.44.5, LustreFileSystemMountName).
MountName = Annotated[
    str,
    BeforeValidator(
        matched(
            r"[A-Za-z0-9_-]{1,8}",
            "the MountName of a file system",
            "abcdefgh",
            source="FSx API, LustreFileSystemMountName",
        )
    ),
]
TagKey = Annotated[str, BeforeValidator(keys.tag_key)]
TagValue = Annotated[str, BeforeValidator(keys.tag_value)]
S3Path = Annotated[
    str,
    BeforeValidator(
        matched(
            r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[\w!'()*./=+@-]*)?",
            "a place in S3",
            "s3://datasets-111122223333/tokens/",
            longest=900,
            source="FSx API, ArchivePath",
        )
    ),
    AfterValidator(buckets.in_bucket),
]
