"""Types of the spec's values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from trainyard.language.models import checks as check
from trainyard.language.models import durations as times
from trainyard.language.models import git, keys, programs, references
from trainyard.language.models.checks import matched
from trainyard.language.models.editor import shape_of
from trainyard.language.units import Duration as DurationValue
from trainyard.language.units import Quantity as QuantityValue


def _like(value_check: Callable[[Any], Any]) -> WithJsonSchema:
    """The schema of a value that is no text of JSON: what its check says of it."""
    return WithJsonSchema(dict(shape_of(value_check)))


# Kubernetes, considerations for large clusters: no more than 5,000 nodes.
MOST_NODES = 5000
_ENV = r"[-._a-zA-Z][-._a-zA-Z0-9]*"
_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
"""DNS subdomains: names of most objects, and of nodes (Kubernetes, object names)."""
_NAMES = "Kubernetes, object names"

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
Quantity = Annotated[QuantityValue, BeforeValidator(check.quantity), _like(check.quantity)]
Amount = Annotated[QuantityValue, BeforeValidator(check.amount), _like(check.amount)]
Size = Annotated[QuantityValue, BeforeValidator(check.size), _like(check.size)]
RootSize = Annotated[QuantityValue, BeforeValidator(check.root_size), _like(check.root_size)]
HugePages = Annotated[QuantityValue, BeforeValidator(check.pages), _like(check.pages)]
Duration = Annotated[DurationValue, BeforeValidator(times.duration), _like(times.duration)]
Period = Annotated[DurationValue, BeforeValidator(times.period), _like(times.period)]
IdleTime = Annotated[DurationValue, BeforeValidator(times.idle_time), _like(times.idle_time)]
GracePeriod = Annotated[DurationValue, BeforeValidator(times.grace), _like(times.grace)]
GracetimePeriod = Annotated[DurationValue, BeforeValidator(times.gracetime), _like(times.gracetime)]
BootstrapTime = Annotated[DurationValue, BeforeValidator(times.bootstrap), _like(times.bootstrap)]
FailureInterval = Annotated[
    DurationValue, BeforeValidator(times.between_failures), _like(times.between_failures)
]
RefreshInterval = Annotated[DurationValue, BeforeValidator(times.refresh), _like(times.refresh)]
Retention = Annotated[DurationValue, BeforeValidator(times.retention), _like(times.retention)]
ScrapeInterval = Annotated[
    DurationValue, BeforeValidator(times.scrape_interval), _like(times.scrape_interval)
]
LogRetention = Annotated[
    DurationValue, BeforeValidator(times.log_retention), _like(times.log_retention)
]
Whole = BeforeValidator(check.whole)
"""Beside a `Literal` of whole numbers."""
Count = Annotated[float, BeforeValidator(check.count)]
ModelSize = Annotated[float, BeforeValidator(check.model_size)]
# One of the sizes of a model: layers, the width of a token, the tokens of a sample.
Dimension = Annotated[int, Field(ge=1, le=2**31)]
Timestamp = Annotated[str, BeforeValidator(check.timestamp)]
Image = Annotated[str, BeforeValidator(references.image)]
ImageOrName = Annotated[str, BeforeValidator(references.image_or_name)]
ImageByDigest = Annotated[str, BeforeValidator(references.image_by_digest)]
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
EnvName = Annotated[
    str,
    BeforeValidator(
        matched(
            _ENV,
            "an environment variable's name",
            "NCCL_DEBUG",
            source="apimachinery 0.35, IsEnvVarName",
            joint="_",
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
KubernetesVersion = Annotated[
    str, BeforeValidator(matched(r"\d+\.\d+", "a Kubernetes version", "1.35"))
]
SecretKey = Annotated[str, BeforeValidator(check.secret_key)]
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
GroupName = Annotated[str, BeforeValidator(check.group)]
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
# Slack, creating a channel: 80 characters at most, no spaces and periods; its id and `@` of a person are taken too.
SlackChannel = Annotated[
    str,
    BeforeValidator(
        matched(
            r"[#@]?[^\s#@{}'`]+",
            "a channel of Slack",
            "#gpu",
            longest=81,
            source="Slack API, conversations.create name",
        )
    ),
]
Distinct = AfterValidator(check.distinct)
