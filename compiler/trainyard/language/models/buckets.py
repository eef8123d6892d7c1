"""Checks of what names a place in S3."""

from __future__ import annotations

import re
from typing import Any

from trainyard.language.models.checks import as_text, fault, matched
from trainyard.language.models.editor import shaped

_BUCKET = r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]"
_plain = matched(
    _BUCKET,
    "an S3 bucket name",
    "checkpoints-111122223333",
    source="S3 user guide, bucketnamingrules",
)

# S3 user guide, bucketnamingrules: general purpose buckets.
_NO_BUCKET = (
    (r".*\.\.", "has two dots in a row", "write one of them"),
    (r"\d+\.\d+\.\d+\.\d+\Z", "has the form of an IP address", "write the name of a bucket"),
    (
        r"xn--|sthree-|amzn-s3-demo-",
        "begins as no name of a bucket may",
        "write the name of a bucket of yours",
    ),
    (
        r".*(--ol-s3|\.mrap|--table-s3)\Z",
        "is the alias of another thing than a bucket",
        "write the bucket that is behind it",
    ),
)
_SEMANTICS = "Mountpoint for Amazon S3, semantics"
_PREFIX = "Mountpoint for Amazon S3, doc/CONFIGURATION.md: --prefix"
_LONGEST_KEY = 1024  # bytes of an object's key (S3 user guide, object-keys)


_REFUSED = "".join(f"(?!{pattern})" for pattern, _, _ in _NO_BUCKET)


@shaped(_REFUSED + _BUCKET, maxLength=63)
def bucket(value: Any) -> str:
    """The name of a bucket."""
    text = _plain(value)
    for pattern, why, help in _NO_BUCKET:
        if re.match(pattern, text):
            raise fault(
                f"`{text}` is not an S3 bucket name: it {why}",
                help,
                source="S3 user guide, bucketnamingrules",
            )
    return text


def general_bucket(text: str) -> str:
    """The name of a general purpose bucket: what speaks the API of S3 alone has no session of a directory bucket, and
    an alias is nobody's to make."""
    if re.search(r"(--x-s3|--xa-s3|-s3alias)\Z", text):
        what = "an alias of an access point" if text.endswith("-s3alias") else "a directory bucket"
        raise fault(
            f"`{text}` is {what}, and no general purpose bucket",
            "write the name of a general purpose bucket",
            source="S3 user guide, directory-bucket-naming-rules and access-points-alias",
        )
    return text


def in_bucket(text: str) -> str:
    """A place in S3, whose bucket has a name that a bucket may have."""
    bucket(text.removeprefix("s3://").partition("/")[0])
    return text


def is_bucket(text: str) -> bool:
    """Whether a bucket may be called so."""
    fits = re.fullmatch(_BUCKET, text) is not None
    return fits and not any(re.match(pattern, text) for pattern, _, _ in _NO_BUCKET)


@shaped(
    r"(?:(?!(?:(?:s3|https?)://|arn:|/))(?!.*//)(?!(?:.*/)?\.{1,2}(?:/|\Z))[^\0-\x20\x7f]*)",
    maxLength=_LONGEST_KEY,
)
def prefix(value: Any) -> str:
    """The beginning of the keys that are mounted; empty is the whole bucket.

    A key that begins with `/`, or has `//` in it, is another key than without, and Mountpoint shows none with an empty
    part, `.` or `..` (Mountpoint for Amazon S3, semantics: mapping S3 object keys to files).
    """
    if value == "":
        return ""
    text = as_text(value, "a prefix", "runs/llama")
    if re.match(r"(s3|https?)://|arn:", text):
        uri = re.sub(r"\A(?:\w+://|arn:.*:::)", "", text)
        path = uri.partition("/")[2]
        raise fault(
            f"`{text}` names a bucket too",
            f"write the bucket under `bucket:`, and `prefix: {path or '...'}`",
            source=_PREFIX,
        )
    parts = text.rstrip("/").split("/")
    odd = ("", ".", "..")
    if any(part in odd for part in parts):
        near = "/".join([part for part in parts if part not in odd])
        raise fault(
            f"`{text}` is no prefix that Mountpoint can show: a part of it is empty, `.` or `..`",
            f"write `{near}/`" if near else "remove it to mount the whole bucket",
            source=_SEMANTICS,
        )
    if re.search(r"[\0-\x20\x7f]", text):
        raise fault(
            f"`{text}` has a space or a control character, which ends an option of the mount",
            "take a prefix without them, like `runs/llama`",
            source=_PREFIX,
        )
    length = len(text.encode())
    if length > _LONGEST_KEY:
        raise fault(
            f"`{text[:32]}…` has {length} bytes, and a key has at most {_LONGEST_KEY}",
            "take a shorter prefix",
            source="S3 user guide, object-keys",
        )
    return text
