"""Types of the spec's values. Each refuses what it is not, and says what to write instead."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from ipaddress import IPv4Network
from typing import Annotated, Any

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from compiler.plan.units import Duration as DurationValue
from compiler.plan.units import Quantity as QuantityValue


def fault(message: str, help: str) -> PydanticCustomError:
    """A refusal with its help; braces in the text stand for themselves."""
    return PydanticCustomError("spec_value", "{fact}", {"fact": message, "help": help})


def _text(value: Any, what: str, example: str) -> str:
    if not isinstance(value, str):
        raise fault(f"{what} is text, not {kind_of(value)}", f"write it as text, like `{example}`")
    return value


def kind_of(value: Any) -> str:
    """What a YAML value is, in words."""
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return f"the boolean `{str(value).lower()}`"
    if isinstance(value, int | float):
        return f"the number `{value}`"
    names: dict[type, str] = {str: "text", list: "a list", dict: "a mapping"}
    return names.get(type(value)) or "something else"


def _matched(pattern: str, what: str, example: str, *, longest: int = 253) -> Callable[[Any], str]:
    compiled = re.compile(rf"(?:{pattern})\Z")

    def check(value: Any) -> str:
        text = _text(value, what, example)
        if len(text) > longest:
            raise fault(f"`{text[:32]}…` has {len(text)} characters, {what} has at most {longest}", "shorten it")
        if not compiled.match(text):
            raise fault(f"`{text}` is not {what}", f"write it like `{example}`")
        return text

    return check


def _quantity(value: Any) -> QuantityValue:
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise fault(f"a quantity is a number with a unit, not {kind_of(value)}", "write it like `64Gi` or `90`")
    try:
        found = QuantityValue.parse(value)
    except ValueError:
        raise fault(f"`{value}` is not a Kubernetes quantity", _quantity_help(str(value))) from None
    if found.milli < 0:
        raise fault(f"`{value}` is negative", "write a quantity of 0 or more")
    return found


def _quantity_help(text: str) -> str:
    near = re.match(r"\s*(\d+(?:\.\d+)?)\s*(k|m|g|t)i?b?\s*\Z", text, re.IGNORECASE)
    return f"write `{near[1]}{near[2].upper()}i`" if near else "write a number with a unit, like `64Gi`, `500m` or `90`"


def _size(value: Any) -> QuantityValue:
    found = _quantity(value)
    if found.value < 1024**2:
        raise fault(f"`{value}` is {found.value} bytes", f"give the unit, like `{value}Gi`")
    return found


def _duration(value: Any) -> DurationValue:
    if not isinstance(value, str):
        raise fault(f"a duration is a number with a unit, not {kind_of(value)}", "write it like `20m` or `1h30m`")
    try:
        return DurationValue.parse(value)
    except ValueError:
        days = re.match(r"(\d+)d\Z", value)
        help = f"write `{int(days[1]) * 24}h`: Kubernetes has no unit for days" if days else "write it like `20m`"
        raise fault(f"`{value}` is not a duration", help) from None


_REGION = re.compile(r"[a-z]{2}(?:-[a-z]+){1,2}-\d\Z")
_ZONE = re.compile(r"[a-z]{2}(?:-[a-z]+){1,2}-\d[a-z]\Z")


def _region(value: Any) -> str:
    text = _text(value, "a Region", "us-west-2")
    if _ZONE.match(text):
        raise fault(f"`{text}` is an Availability Zone, not a Region", f"write `{text[:-1]}`")
    if not _REGION.match(text):
        raise fault(f"`{text}` is not an AWS Region", "write it like `us-west-2`")
    return text


def _zone(value: Any) -> str:
    text = _text(value, "an Availability Zone", "us-west-2a")
    if _REGION.match(text):
        raise fault(f"`{text}` is a Region, not an Availability Zone", f"write one of its zones, like `{text}a`")
    if re.match(r"[a-z]+\d-az\d\Z", text):
        raise fault(f"`{text}` is the id of a zone, not its name", "write the name in your account, like `us-west-2a`")
    if not _ZONE.match(text):
        raise fault(f"`{text}` is not an Availability Zone", "write it like `us-west-2a`")
    return text


def _cidr(value: Any) -> str:
    text = _text(value, "a CIDR", "10.0.0.0/16")
    try:
        IPv4Network(text)
    except ValueError as problem:
        raise fault(f"`{text}` is not a CIDR block: {problem}", _cidr_help(text)) from None
    return text


def _cidr_help(text: str) -> str:
    try:
        return f"write `{IPv4Network(text, strict=False)}`"
    except ValueError:
        return "write it like `10.0.0.0/16`"


def _vpc_cidr(value: Any) -> str:
    text = _cidr(value)
    if not 16 <= IPv4Network(text).prefixlen <= 24:
        # VPC: /16 to /28 (EC2 CreateVpc); eksctl cuts it in eight, and EKS wants 16 addresses a subnet.
        raise fault(f"`{text}` is no size for the VPC of a cluster", "write a block of /16 to /24, like `10.0.0.0/16`")
    return text


def _timestamp(value: Any) -> str:
    text = _text(value, "a time", "2026-12-01T11:30:00Z")
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise fault(f"`{text}` is not a time", "write it like `2026-12-01T11:30:00Z`") from None
    if moment.tzinfo is None:
        raise fault(f"`{text}` has no time zone", f"write `{text}Z` for UTC")
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


# github.com/distribution/reference: optional registry and port, path, optional tag, optional digest.
_IMAGE = re.compile(
    r"(?P<name>(?:[a-zA-Z0-9.-]+(?::\d+)?/)?[a-z0-9]+(?:[._/-]+[a-z0-9]+)*)"
    r"(?::(?P<tag>[A-Za-z0-9_][A-Za-z0-9._-]{0,127}))?(?:@(?P<digest>sha256:[0-9a-f]{64}))?\Z"
)


def _image(value: Any) -> str:
    text = _text(value, "an image", "public.ecr.aws/org/name:1.0")
    found = _IMAGE.match(text)
    if not found:
        if "@sha256:" in text:
            raise fault(f"the digest of `{text}` is not 64 hex digits", "write `name@sha256:` and 64 hex digits")
        raise fault(f"`{text}` is not an image reference", "write it like `registry/name:tag`")
    if not found["tag"] and not found["digest"]:
        raise fault(f"image `{text}` has neither tag nor digest, so it means `:latest`", f"pin it, like `{text}:1.0`")
    if found["tag"] == "latest" and not found["digest"]:
        raise fault(f"image `{text}` is whatever is newest when a node pulls it", "pin a version or, better, a digest")
    return text


_ENV = r"[-._a-zA-Z][-._a-zA-Z0-9]*"
_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"

Name = Annotated[str, BeforeValidator(_matched(_LABEL, "a name (lowercase letters, digits, `-`)", "a100", longest=63))]
JobName = Annotated[
    str, BeforeValidator(_matched(r"[a-z]([-a-z0-9]*[a-z0-9])?", "a job's name (it begins with a letter)", "llama3-8b"))
]
ClusterName = Annotated[
    str, BeforeValidator(_matched(r"[a-z][-a-z0-9]*[a-z0-9]", "a cluster's name", "seoul-llm", longest=40))
]
Region = Annotated[str, BeforeValidator(_region)]
Zone = Annotated[str, BeforeValidator(_zone)]
InstanceType = Annotated[str, BeforeValidator(_matched(r"[a-z0-9-]+\.[a-z0-9-]+", "an instance type", "p5.48xlarge"))]
Quantity = Annotated[QuantityValue, BeforeValidator(_quantity)]
Size = Annotated[QuantityValue, BeforeValidator(_size)]
Duration = Annotated[DurationValue, BeforeValidator(_duration)]
Cidr = Annotated[str, BeforeValidator(_cidr)]
VpcCidr = Annotated[str, BeforeValidator(_vpc_cidr)]
Timestamp = Annotated[str, BeforeValidator(_timestamp)]
Image = Annotated[str, BeforeValidator(_image)]
EnvName = Annotated[str, BeforeValidator(_matched(_ENV, "an environment variable's name", "NCCL_DEBUG"))]
Path = Annotated[str, BeforeValidator(_matched(r"/[^\0:]*", "an absolute path", "/data/fsx"))]
Account = Annotated[str, BeforeValidator(_matched(r"\d{12}", "an AWS account id (12 digits, quoted)", "111122223333"))]
Arn = Annotated[
    str, BeforeValidator(_matched(r"arn:aws[a-z-]*:iam::\d{12}:(role|user)/.+", "the ARN of an IAM role or user",
                                  "arn:aws:iam::111122223333:role/platform", longest=2048))
]
VpcId = Annotated[str, BeforeValidator(_matched(r"vpc-[0-9a-f]{8,17}", "a VPC id", "vpc-0a1b2c3d4e5f60718"))]
SubnetId = Annotated[str, BeforeValidator(_matched(r"subnet-[0-9a-f]{8,17}", "a subnet id", "subnet-0a1b2c3d4e5f6"))]
ReservationId = Annotated[
    str, BeforeValidator(_matched(r"cr-[0-9a-z]+", "a capacity reservation id", "cr-0a1b2c3d4e5f60718"))
]
FileSystemId = Annotated[
    str, BeforeValidator(_matched(r"fs-[0-9a-f]{8,17}", "an FSx file system id", "fs-0a1b2c3d4e5f60718"))
]
Bucket = Annotated[
    str, BeforeValidator(_matched(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]", "an S3 bucket name", "checkpoints-111122223333"))
]
LabelKey = Annotated[
    str, BeforeValidator(_matched(r"([a-z0-9.-]+/)?[A-Za-z0-9]([-._A-Za-z0-9]*[A-Za-z0-9])?", "a label key", "team"))
]
_LABEL_VALUE = r"([A-Za-z0-9]([-._A-Za-z0-9]*[A-Za-z0-9])?)?"
LabelValue = Annotated[str, BeforeValidator(_matched(_LABEL_VALUE, "a label value", "research", longest=63))]
