"""Types of the spec's values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, WithJsonSchema

from compiler.plan.units import Duration as DurationValue
from compiler.plan.units import Quantity as QuantityValue
from compiler.spec import buckets, git, keys, programs
from compiler.spec import checks as check
from compiler.spec import durations as times
from compiler.spec.checks import matched
from compiler.spec.editor import shape_of


def _like(value_check: Callable[[Any], Any]) -> WithJsonSchema:
    """The schema of a value that is no text of JSON: what its check says of it."""
    return WithJsonSchema(dict(shape_of(value_check)))


# Kubernetes, considerations for large clusters: no more than 5,000 nodes.
MOST_NODES = 5000
_ENV = r"[-._a-zA-Z][-._a-zA-Z0-9]*"
# IAM's pathType, roleNameType and userNameType (botocore 1.44.5, iam service-2).
_ARN = r"arn:aws[a-z-]*:iam::\d{12}:(role|user)/([!-~]+/)?[\w+=,.@-]{1,64}"
# EC2 user guide, resource IDs: 8 hex digits, or 17 since 2016.
_ID = r"[0-9a-f]{8}([0-9a-f]{9})?"
_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
"""DNS subdomains: names of most objects, and of nodes (Kubernetes, object names)."""
_NAMES = "Kubernetes, object names"
_IDS = "EC2 user guide, resource IDs"

Name = Annotated[
    str,
    BeforeValidator(
        matched(
            _LABEL, "a name (lowercase letters, digits, `-`)", "a100", longest=63, source=_NAMES
        )
    ),
]
# core/v1 Secret and ServiceAccount: names are DNS subdomains (Kubernetes, object names).
ObjectName = Annotated[
    str,
    BeforeValidator(
        matched(
            SUBDOMAIN, "a name (lowercase letters, digits, `-`, `.`)", "hf-token", source=_NAMES
        )
    ),
]
JobName = Annotated[
    str,
    BeforeValidator(
        matched(
            r"[a-z]([-a-z0-9]*[a-z0-9])?",
            "a job's name (lowercase letters, digits, `-`; a letter first)",
            "llama3-8b",
            source=_NAMES,
        )
    ),
]
ClusterName = Annotated[
    str,
    BeforeValidator(
        matched(
            r"[a-z][-a-z0-9]*[a-z0-9]",
            "a cluster's name (two or more lowercase letters, digits, `-`)",
            "seoul-llm",
            longest=40,
            source="EKS API, CreateCluster; roles of 64 characters are named by it",
        )
    ),
]
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
Quantity = Annotated[QuantityValue, BeforeValidator(check.quantity), _like(check.quantity)]
Amount = Annotated[QuantityValue, BeforeValidator(check.amount), _like(check.amount)]
Size = Annotated[QuantityValue, BeforeValidator(check.size), _like(check.size)]
RootSize = Annotated[QuantityValue, BeforeValidator(check.root_size), _like(check.root_size)]
HugePages = Annotated[QuantityValue, BeforeValidator(check.pages), _like(check.pages)]
Duration = Annotated[DurationValue, BeforeValidator(times.duration), _like(times.duration)]
Period = Annotated[DurationValue, BeforeValidator(times.period), _like(times.period)]
IdleTime = Annotated[DurationValue, BeforeValidator(times.idle_time), _like(times.idle_time)]
GracePeriod = Annotated[DurationValue, BeforeValidator(times.grace), _like(times.grace)]
FailureInterval = Annotated[
    DurationValue, BeforeValidator(times.between_failures), _like(times.between_failures)
]
RefreshInterval = Annotated[DurationValue, BeforeValidator(times.refresh), _like(times.refresh)]
Count = Annotated[float, BeforeValidator(check.count)]
ModelSize = Annotated[float, BeforeValidator(check.model_size)]
PublicCidr = Annotated[str, BeforeValidator(check.public_cidr)]
IpAddress = Annotated[str, BeforeValidator(check.address)]
VpcCidr = Annotated[str, BeforeValidator(check.vpc_cidr)]
SubnetCidr = Annotated[str, BeforeValidator(check.subnet_cidr)]
Timestamp = Annotated[str, BeforeValidator(check.timestamp)]
Image = Annotated[str, BeforeValidator(check.image)]
ImageOrName = Annotated[str, BeforeValidator(check.image_or_name)]
ImageByDigest = Annotated[str, BeforeValidator(check.image_by_digest)]
# Words of a Dockerfile, which need no quotes there.
ContextPath = Annotated[
    str,
    BeforeValidator(
        matched(
            r"(?!/)[A-Za-z0-9._@+/-]+",
            "a relative path of letters, digits and `._@+/-`",
            "train/requirements.txt",
            longest=1000,
        )
    ),
]
ContainerPath = Annotated[
    str,
    BeforeValidator(
        matched(
            r"(?!/(proc|sys|dev)(/|\Z))(/[A-Za-z0-9._@+-]+)+/?",
            "an absolute path of letters, digits and `._@+/-`, outside of `/proc`, `/sys` and `/dev`",
            "/workspace",
            longest=1000,
        )
    ),
]
Version = Annotated[str, BeforeValidator(matched(r"\d+\.\d+\.\d+", "a version", "1.43.2"))]
CudaVersion = Annotated[str, BeforeValidator(matched(r"\d+\.\d+", "a version of CUDA", "12.9"))]
ChartDigest = Annotated[
    str,
    BeforeValidator(
        matched(
            r"sha256:[0-9a-f]{64}",
            "`sha256:` and 64 lowercase hex digits",
            "sha256:3b0c…",
            longest=71,
        )
    ),
]
Sha256 = Annotated[
    str,
    BeforeValidator(
        matched(
            r"(?!0{64})[0-9a-f]{64}",
            "64 lowercase hex digits, not all of them 0",
            "3b0c…",
            longest=64,
        )
    ),
]
# ECR API, CreateRepository repositoryName.
EcrName = Annotated[
    str,
    BeforeValidator(
        matched(
            r"[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*",
            "the name of an ECR repository",
            "research/train",
            longest=256,
            source="ECR API, CreateRepository repositoryName",
        )
    ),
]
Line = Annotated[
    str,
    BeforeValidator(matched(r"[^\x00\r\n]*", "a text of one line", "1", longest=32768, empty=True)),
]
RunnerLabel = Annotated[
    str,
    BeforeValidator(
        matched(
            r"(?!macos-|windows-)[A-Za-z0-9._-]+",
            "the label of a runner with Linux, which Docker builds on",
            "ubuntu-24.04",
            longest=100,
            source="GitHub documentation, workflow syntax: runs-on",
        )
    ),
]
# ECR API, CreatePullThroughCacheRule (botocore 1.44.5).
CachePrefix = Annotated[
    str,
    BeforeValidator(
        matched(
            r"(?=..)[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*",
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
# Debian policy, 5.6.1 and 5.6.12: names of packages, and their versions.
DebianName = Annotated[
    str,
    BeforeValidator(
        matched(
            r"[a-z0-9][a-z0-9+.-]+",
            "the name of a Debian package",
            "libaio-dev",
            source="Debian policy 5.6.1",
        )
    ),
]
DebianVersion = Annotated[
    str,
    BeforeValidator(
        matched(
            r"(\d+:)?\d[A-Za-z0-9.+~-]*",
            "the version of a Debian package",
            "0.3.112-13build1",
            source="Debian policy 5.6.12",
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
EnvName = Annotated[
    str,
    BeforeValidator(
        matched(
            _ENV,
            "an environment variable's name",
            "NCCL_DEBUG",
            source="apimachinery 0.35, IsEnvVarName",
        )
    ),
]
Path = Annotated[str, BeforeValidator(programs.path)]
WritablePath = Annotated[str, BeforeValidator(programs.writable_path)]
MountPath = Annotated[str, BeforeValidator(programs.mount_path)]
FilePath = Annotated[
    str,
    BeforeValidator(programs.file_path),
    WithJsonSchema(
        {
            "type": "string",
            "pattern": r"^/(?!(proc|sys|dev)(/|$))(?!(usr/)?(s?bin|lib)/[^/]*$)(?!(.*/)?\.\.(/|$))[^:]*[^:/]$",
            "maxLength": 4095,
        }
    ),
]
Word = Annotated[str, AfterValidator(programs.word)]
Command = Annotated[list[Word], AfterValidator(programs.program)]
RepositoryPath = Annotated[str, BeforeValidator(git.repository_path)]
RepositoryUrl = Annotated[str, BeforeValidator(git.repository_url)]
Branch = Annotated[str, BeforeValidator(git.branch)]
# With the build of an EKS add-on, so that the refusal can say where that is written.
ComponentVersion = Annotated[
    str, BeforeValidator(matched(r"v?\d+\.\d+\.\d+(-eksbuild\.\d+)?", "a whole version", "2.3.0"))
]
Kind = Annotated[str, BeforeValidator(matched(r"[A-Z][A-Za-z0-9]*", "a kind", "Job"))]
# RFC 6901; the empty pointer is the whole object, which no patch replaces.
JsonPointer = Annotated[
    str,
    BeforeValidator(
        matched(
            r"(/([^/~]|~[01])*)+",
            "a JSON pointer",
            "/spec/replicas",
            longest=2000,
            source="RFC 6901",
        )
    ),
]
NamePattern = Annotated[str, BeforeValidator(check.name_pattern)]
# Kubernetes, labels and selectors: equality and sets, of which all must hold.
_LABEL_KEY = r"[A-Za-z0-9]([-A-Za-z0-9_./]*[A-Za-z0-9])?"
_REQUIREMENT = rf"(!?{_LABEL_KEY}|{_LABEL_KEY}\s*(=|==|!=)\s*({_LABEL_KEY})?|{_LABEL_KEY}\s+(in|notin)\s*\([^()]*\))"
LabelSelector = Annotated[
    str,
    BeforeValidator(
        matched(
            rf"{_REQUIREMENT}(\s*,\s*{_REQUIREMENT})*",
            "a label selector",
            "team=speech",
            longest=2000,
        )
    ),
]
IncludePath = Annotated[
    str, BeforeValidator(matched(r"[^\x00-\x1f\x7f]+", "a path", "monitoring/", longest=1000))
]
TorchVersion = Annotated[
    str, BeforeValidator(matched(r"\d+\.\d+(\.\d+)?", "a version of PyTorch", "2.12"))
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
KubernetesVersion = Annotated[
    str, BeforeValidator(matched(r"\d+\.\d+", "a Kubernetes version", "1.35"))
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
SecretKey = Annotated[str, BeforeValidator(check.secret_key)]
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
JsonKey = Annotated[
    str,
    BeforeValidator(
        matched(
            r"[A-Za-z0-9_.@/-]*",
            "a key of the JSON in a secret",
            "token",
            empty=True,
            source="external-secrets v2.9.0, remoteRef.property",
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
GroupName = Annotated[str, BeforeValidator(check.group)]
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
Bucket = Annotated[str, BeforeValidator(buckets.bucket)]
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
LabelKey = Annotated[str, BeforeValidator(keys.label_key)]
NodeLabelKey = Annotated[str, BeforeValidator(keys.node_label)]
JobLabelKey = Annotated[str, BeforeValidator(keys.job_label)]
JobAnnotationKey = Annotated[
    str,
    BeforeValidator(keys.job_annotation),
    WithJsonSchema(
        {
            "type": "string",
            "pattern": r"^([a-z0-9][-a-z0-9.]*/)?[A-Za-z0-9]([-._A-Za-z0-9]{0,61}[A-Za-z0-9])?$",
            "maxLength": 317,
        }
    ),
]
TagKey = Annotated[str, BeforeValidator(keys.tag_key)]
TagValue = Annotated[str, BeforeValidator(keys.tag_value)]
TaintKey = Annotated[str, BeforeValidator(keys.taint_key)]
_LABEL_VALUE = r"([A-Za-z0-9]([-._A-Za-z0-9]*[A-Za-z0-9])?)?"
LabelValue = Annotated[
    str,
    BeforeValidator(
        matched(
            _LABEL_VALUE,
            "a label value",
            "research",
            longest=63,
            empty=True,
            source="Kubernetes, labels: syntax and character set",
        )
    ),
]
# core/v1 Node: `kubernetes.io/hostname` is a label's value; on EC2 the private DNS name of the instance.
HostName = Annotated[
    str,
    BeforeValidator(
        matched(
            SUBDOMAIN,
            "the name of a node",
            "ip-10-0-12-34.us-west-2.compute.internal",
            longest=63,
            source="Kubernetes, well-known labels: kubernetes.io/hostname",
        )
    ),
    WithJsonSchema(
        {
            "type": "string",
            "pattern": rf"^{_LABEL}(\.{_LABEL})*$",
            "maxLength": 63,
            "examples": ["ip-10-0-12-34.us-west-2.compute.internal"],
        }
    ),
]
Distinct = AfterValidator(check.distinct)
