"""Checks of the spec's values. Each returns the value or refuses it, and says what to write instead."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from pydantic_core import PydanticCustomError, PydanticKnownError

from trainyard.language.diagnostics.words import kind_of, shortened
from trainyard.language.models.editor import shaped
from trainyard.language.models.flow import flow
from trainyard.language.units import QUANTITY
from trainyard.language.units import Quantity as QuantityValue


def fault(
    message: str, help: str, key: str = "", *, source: str = "", secret: bool = False
) -> PydanticCustomError:
    """An error with its help; braces in the text are literal. ``key``: the value of a mapping at fault;
    ``source``: where the rule is written; ``secret``: the value is never shown."""
    context = {"fact": message, "help": help, "key": key, "source": source, "secret": secret}
    return PydanticCustomError("spec_value", "{fact}", context)


def as_text(
    value: Any, what: str, example: str, fits: Callable[[str], object] = lambda text: False
) -> str:
    """A text that is not empty; ``fits`` says whether a number would be valid if it were quoted."""
    if not isinstance(value, str) or not value:
        quotable = (
            isinstance(value, int | float) and not isinstance(value, bool) and fits(str(value))
        )
        if quotable:
            advice = f'quote it: `"{value}"`'
        else:
            advice = f"write it as text, like `{flow(example)}`"
        raise fault(f"{what} is text, not {kind_of(value)}", advice)
    return value


def name_pattern(value: Any) -> str:
    """A regular expression for names."""
    text = as_text(value, "a pattern of names", "finetune-.*", lambda text: True)
    try:
        re.compile(text)
    except re.error as problem:
        raise fault(
            f"`{text}` is no regular expression: {problem}", "write it like `finetune-.*`"
        ) from None
    return text


def matched(
    pattern: str,
    what: str,
    example: str,
    *,
    longest: int = 253,
    empty: bool = False,
    source: str = "",
    joint: str = "",
) -> Callable[[Any], str]:
    """A check that a text is ``what``, by a pattern; ``example`` is shown where it does not match, and ``source``,
    where the rule is written. ``joint`` is between its words, whose capitals count."""
    whole = rf"(?:{pattern})\Z"  # compiled by `re` when first needed: a spec has few of these types

    def fits(text: str) -> bool:
        return re.match(whole, text, re.ASCII) is not None

    def check(value: Any) -> str:
        text = ""
        if not empty or value != "":
            text = as_text(value, what, example, fits)
        if len(text) > longest:
            shown = f"`{shortened(text)}` has {len(text)} characters"
            raise fault(f"{shown}, {what} has at most {longest}", "shorten it", source=source)
        if not fits(text):
            raise fault(
                f"`{text}` is not {what}", _meant(text, fits, example, joint), source=source
            )
        return text

    if empty:
        form = f"(?:{pattern})?"
    else:
        form = pattern
    return shaped(form, maxLength=longest)(check)


_NOT_NEGATIVE = QUANTITY.replace("([+-]?)", r"\+?", 1)
_ABOVE_0 = rf"(?=[^eE]*[1-9]){_NOT_NEGATIVE}"
_WITH_UNIT = rf"(?!\+?[0-9.]{{1,6}}\Z){_ABOVE_0}"
_TEXT_OR_NUMBER = ["string", "integer"]
_LIKE_QUANTITIES = ["64Gi", "500m", 90]


def _meant(text: str, fits: Callable[[str], object], example: str, joint: str = "") -> str:
    """What to write instead: what was probably meant, or else what it should look like."""
    candidates = [re.sub(r"\s+", joint, text.strip())] if joint else _slips(text)
    fitting = (candidate for candidate in candidates if fits(candidate))
    meant = next(fitting, None)
    if meant:
        return f"write `{flow(meant)}`"
    return f"write it like `{flow(example)}`"


def _slips(text: str) -> list[str]:
    """What may have been meant by a text: without capitals, underscores, spaces, a prefix, or the rest of an ARN."""
    bare = text.strip()
    plain = bare.lower()
    if plain.startswith("arn:"):  # names something that exists, capitals and all
        bare = f"arn{bare[3:]}"
        return [
            bare,
            re.sub(r"\Aarn:.*[:/]", "", bare),
            re.sub(
                r"\Aarn:([\w-]+):sts::(\d+):assumed-role/([^/]+)/.*",
                r"arn:\1:iam::\2:role/\3",
                bare,
            ),
        ]
    return [
        bare,
        plain,
        re.sub(r"(?<=\w)[_ ]+(?=\w)", "-", plain),
        re.sub(r"\s", "", plain),
        plain.removeprefix("ml."),
        text.removeprefix("v"),
        text.removeprefix("s3://").partition("/")[0],
    ]


@shaped(_NOT_NEGATIVE, type=_TEXT_OR_NUMBER, minimum=0, examples=_LIKE_QUANTITIES)
def quantity(value: Any) -> QuantityValue:
    """A Kubernetes quantity, not negative."""
    if isinstance(value, float):
        raise fault(
            f"a quantity is text or a whole number, not {kind_of(value)}", f'quote it: `"{value}"`'
        )
    is_number = isinstance(value, int) and not isinstance(value, bool)
    if not is_number and not isinstance(value, str):
        raise fault(
            f"a quantity is a number with a unit, not {kind_of(value)}",
            "write it like `64Gi` or `90`",
        )
    try:
        parsed = QuantityValue.parse(value)
    except ValueError:
        raise fault(
            f"`{value}` is not a Kubernetes quantity",
            _quantity_help(str(value)),
            source="apimachinery 0.35, resource.Quantity",
        ) from None
    if parsed.milli < 0:
        raise fault(f"`{value}` is negative", "write a quantity of 0 or more")
    if parsed.value >= _TOO_LARGE:
        raise fault(
            f"`{str(value)[:24]}…` is more than 2^63 - 1, the largest quantity",
            "write a positive amount, like `64Gi`",
            source="apimachinery 0.35, resource.Quantity",
        )
    return parsed


_TOO_LARGE = 2**63


def _quantity_help(text: str) -> str:
    near = re.match(r"\s*([0-9]+(?:\.[0-9]+)?)\s*(k|m|g|t)i?b?\s*\Z", text, re.IGNORECASE)
    if near is None:
        return "write a number with a unit, like `64Gi`, `500m` or `90`"
    unit = near[2].upper()
    return f"write `{near[1]}{unit}i`"


@shaped(_ABOVE_0, type=_TEXT_OR_NUMBER, exclusiveMinimum=0, examples=_LIKE_QUANTITIES)
def amount(value: Any) -> QuantityValue:
    """A quantity above 0."""
    parsed = quantity(value)
    if not parsed:
        raise fault(
            f"`{value}` is nothing",
            "write a quantity above 0, or remove the key to have it derived",
        )
    return parsed


@shaped(_WITH_UNIT, type=_TEXT_OR_NUMBER, minimum=1024**2, examples=["64Gi"])
def size(value: Any) -> QuantityValue:
    """A quantity of bytes; a number without a unit is a slip."""
    parsed = quantity(value)
    if parsed.value < 1024**2:
        near = re.fullmatch(
            r"[1-9]\d{0,4}(\.\d+)?", str(value)
        )  # a count of GiB or MiB, more likely than of bytes
        unit = "byte" if parsed.value == 1 else "bytes"
        raise fault(
            f"`{value}` is {parsed.value} {unit}",
            f"give the unit, like `{value if near else 64}Gi`",
        )
    return parsed


@shaped(_WITH_UNIT, type=_TEXT_OR_NUMBER, minimum=20 * 1024**3, examples=["500Gi"])
def root_size(value: Any) -> QuantityValue:
    """The size of a root volume: at least that of the image it is made from, at most that of a gp3 volume."""
    parsed = size(value)
    gib = -(-parsed.value // 1024**3)
    if parsed.value < _SMALLEST_ROOT_GIB * 1024**3:
        raise fault(
            f"`{value}` is smaller than the image that nodes boot from, of {_SMALLEST_ROOT_GIB}Gi",
            "write at least `100Gi`: container images of training have tens of GiB, or remove it",
            source="awslabs/amazon-eks-ami, templates/al2023/variables-default.json",
        )
    if gib > _LARGEST_GP3_GIB:
        raise fault(
            f"`{value}` is more than a gp3 volume has, at most {_LARGEST_GP3_GIB // 1024}Ti",
            f"write at most `{_LARGEST_GP3_GIB}Gi`",
            source="EC2 API, EbsBlockDevice VolumeSize (2016-11-15)",
        )
    return parsed


# awslabs/amazon-eks-ami 81fec2e, templates/al2023/variables-default.json: launch_block_device_mappings_volume_size, of
# images with drivers too. EC2 refuses less, as smaller than the snapshot (cilium/cilium pull request 43051).
_SMALLEST_ROOT_GIB = 20
_LARGEST_GP3_GIB = 65536  # EC2 API, EbsBlockDevice VolumeSize (botocore 1.44.5)


_OF_KEYS = r"[-._a-zA-Z0-9]+"


@shaped(rf"(?!\.\.|\.\Z){_OF_KEYS}", maxLength=253)
def secret_key(value: Any) -> str:
    """The key of a Secret: it becomes the name of a file, too (apimachinery 0.35, IsConfigMapKey)."""
    text = _secret_key(value)
    if text in (".", "..") or text.startswith(".."):
        raise fault(
            f"`{text}` is not a key of a Secret: none begins with two dots, or is one",
            "write it like `token`",
            source="apimachinery 0.35, IsConfigMapKey",
        )
    return text


_secret_key = matched(
    _OF_KEYS, "a key of a Secret", "token", source="apimachinery 0.35, IsConfigMapKey"
)


@shaped(_WITH_UNIT, type=_TEXT_OR_NUMBER, minimum=0, examples=["5120Mi"])
def pages(value: Any) -> QuantityValue:
    """A quantity of bytes in whole huge pages; 0 is none."""
    if quantity(value) == QuantityValue(0):
        return QuantityValue(0)
    total = size(value)
    page = 2 * 1024**2
    if total.value % page:
        # core/v1 ResourceRequirements: hugepages-2Mi is a multiple of its page (validation of Kubernetes 1.35).
        pages_above = total.value // page + 1
        more = QuantityValue.mib(2 * pages_above)
        raise fault(
            f"`{value}` is not a whole number of 2 MiB pages",
            f"write `{more}`",
            source="core/v1 ResourceRequirements (Kubernetes 1.35)",
        )
    return total


_FEWEST_PARAMETERS = 1000
_MOST_PARAMETERS = 1e15
_POWERS = {"m": "e6", "b": "e9", "t": "e12"}


def whole(value: Any) -> Any:
    """One of some whole numbers; for Python `true` is equal to 1."""
    if isinstance(value, (bool, float)):
        raise PydanticKnownError("int_type")
    return value


@shaped(exclusiveMinimum=0, maximum=_MOST_PARAMETERS)
def count(value: Any) -> float:
    """A number of parameters: large, so written with an exponent as a rule."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise fault(
            f"a number of parameters is a number, not {kind_of(value)}",
            f"write `{_meant_count(str(value))}`",
        )
    if not 0 < value <= _MOST_PARAMETERS:
        raise fault(f"a model of `{value}` parameters", "write how many there are, like `8.03e9`")
    return float(value)


def _meant_count(text: str) -> str:
    """The number that a text means, like `8B`."""
    near = re.match(r"(\d+(?:\.\d+)?)\s*([mbt]|e\+?\d+)?\Z", text, re.IGNORECASE)
    if near is None:
        return "8.03e9"
    unit = (near[2] or "").lower()
    return f"{near[1]}{_POWERS.get(unit, unit)}"


@shaped(minimum=_FEWEST_PARAMETERS, maximum=_MOST_PARAMETERS)
def model_size(value: Any) -> float:
    """The parameters of a whole model: fewer than a thousand are meant in billions."""
    parameters = count(value)
    if parameters < _FEWEST_PARAMETERS:
        raise fault(f"a model of `{value}` parameters", f"write `{parameters:g}e9` for billions")
    return parameters


@shaped(uniqueItems=True)
def distinct(values: list[Any]) -> list[Any]:
    """A list without the same item twice."""
    seen: set[Any] = set()
    for value in values:
        if value in seen:
            raise fault(f"`{value}` is listed twice", "remove one of them")
        seen.add(value)
    return values


_REGION = re.compile(r"[a-z]{2}(?:-[a-z]+){1,2}-[0-9]\Z")
_ZONE = re.compile(r"[a-z]{2}(?:-[a-z]+){1,2}-[0-9][a-z]\Z")


@shaped(_REGION.pattern)
def region(value: Any) -> str:
    """An AWS Region."""
    text = as_text(value, "a Region", "us-west-2")
    if _ZONE.match(text):
        raise fault(f"`{text}` is an Availability Zone, not a Region", f"write `{text[:-1]}`")
    if not _REGION.match(text):
        raise fault(f"`{text}` is not an AWS Region", _meant(text, _REGION.match, "us-west-2"))
    return text


@shaped(_ZONE.pattern)
def zone(value: Any) -> str:
    """An Availability Zone, by name."""
    text = as_text(value, "an Availability Zone", "us-west-2a")
    if _REGION.match(text):
        raise fault(
            f"`{text}` is a Region, not an Availability Zone",
            f"write one of its zones, like `{text}a`",
        )
    if re.match(r"[a-z]+\d-az\d\Z", text):
        raise fault(
            f"`{text}` is the id of a zone, not its name",
            "write the name in your account, like `us-west-2a`",
        )
    if not _ZONE.match(text):
        raise fault(
            f"`{text}` is not an Availability Zone", _meant(text, _ZONE.match, "us-west-2a")
        )
    return text


_MOMENT = r"20[0-9]{2}[-W0-9]*[T ].*(?:Z|[+-][0-9:.]+)\Z"


@shaped(_MOMENT)
def timestamp(value: Any) -> str:
    """A moment, in UTC."""
    text = as_text(value, "a time", "2026-12-01T11:30:00Z")
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise fault(f"`{text}` is not a time", "write it like `2026-12-01T11:30:00Z`") from None
    if moment.tzinfo is None:
        raise fault(f"`{text}` has no time zone", f"write `{moment:%Y-%m-%dT%H:%M:%SZ}` for UTC")
    if not 2000 <= moment.year < 2100:
        raise fault(f"`{text}` is not of this century", "write it like `2026-12-01T11:30:00Z`")
    if not re.match(_MOMENT, text):  # another separator
        meant = moment.isoformat(timespec="seconds").replace("+00:00", "Z")
        raise fault(f"`{text}` is not a time", f"write `{meant}`")
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


_GROUP = r"[!-~]+"


@shaped(rf"(?!system:){_GROUP}", maxLength=253)
def group(value: Any) -> str:
    """A Kubernetes group that an access entry can give to an IAM principal.

    EKS refuses others: "The kubernetes group name … is invalid, it cannot start with system:" (CreateAccessEntry,
    terraform-aws-modules/terraform-aws-eks issue 2915).
    """
    text = as_text(value, "a group", "team-a")
    if text.startswith("system:"):
        raise fault(
            f"group `{text}` starts with `system:`, which EKS gives to nobody",
            "take a group of the team's own, like `team-a`; list administrators under `platform.eks.admins`",
            source="EKS API, CreateAccessEntry",
        )
    return _group(text)


_group = matched(_GROUP, "a group (no spaces)", "team-a")
