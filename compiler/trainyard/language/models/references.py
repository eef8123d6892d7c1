"""References to container images, as a spec may write them."""

from __future__ import annotations

import re
from typing import Any

from trainyard.language.models.checks import as_text, fault
from trainyard.language.models.editor import shaped

# github.com/distribution/reference: optional registry and port, path, optional tag, optional digest.
_DOMAIN = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*"
_COMPONENT = r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_LONGEST_NAME = 255
_REFERENCE = "github.com/distribution/reference, grammar"
_NAME = rf"(?:{_DOMAIN}(?::\d+)?/)?{_COMPONENT}(?:/{_COMPONENT})*"
_TAG = r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}"
_DIGEST = r"sha256:[0-9a-f]{64}"
_PLACEHOLDER = "sha256:" + "0" * 64
_IMAGE = re.compile(rf"(?P<name>{_NAME})(?::(?P<tag>{_TAG}))?(?:@(?P<digest>{_DIGEST}))?\Z")
_PINNED = rf"{_NAME}(?::(?!latest\Z){_TAG}|(?::{_TAG})?@{_DIGEST})"


@shaped(_PINNED)
def image(value: Any) -> str:
    """An image reference that means the same tomorrow."""
    text = as_text(value, "an image", "public.ecr.aws/org/name:1.0")
    parts = _IMAGE.match(text)
    if not parts:
        if "@sha256:" in text:
            raise fault(
                f"the digest of `{text}` is not 64 lowercase hex digits",
                "write `name@sha256:` and 64 digits of `0-9a-f`",
                source=_REFERENCE,
            )
        plain = re.sub(r"\A(https?|docker|oci)://", "", text.strip())
        meant = next(
            (candidate for candidate in (plain, plain.lower()) if _IMAGE.match(candidate)), None
        )
        raise fault(
            f"`{text}` is not an image reference",
            f"write `{meant}`" if meant else "write it like `registry/name:tag`",
            source=_REFERENCE,
        )
    length = len(parts["name"])
    if length > _LONGEST_NAME:
        raise fault(
            f"the name of image `{text[:32]}…` has {length} characters, and may have "
            f"{_LONGEST_NAME}",
            "shorten it",
            source=_REFERENCE,
        )
    if parts["digest"] == _PLACEHOLDER:
        raise fault(
            f"the digest of `{parts['name']}` is a placeholder of zeros",
            "write the digest that `docker buildx imagetools inspect` prints for the image",
            source=_REFERENCE,
        )
    if not parts["tag"] and not parts["digest"]:
        raise fault(
            f"image `{text}` has neither tag nor digest, so it means `:latest`",
            f"pin it, like `{text}:1.0`",
        )
    if parts["tag"] == "latest" and not parts["digest"]:
        raise fault(
            f"image `{text}` is the newest one when a node pulls it",
            "pin a version or, better, a digest",
        )
    return text


_IMAGE_NAME = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"


@shaped(rf"{_IMAGE_NAME}|{_PINNED}")
def image_or_name(value: Any) -> str:
    """An image reference, or the name of an image of the spec, which is no reference: one of a single word without tag
    and digest means `:latest`, which is refused."""
    if isinstance(value, str) and re.fullmatch(_IMAGE_NAME, value):
        return value
    return image(value)


@shaped(rf"{_NAME}(?::{_TAG})?@{_DIGEST}")
def image_by_digest(value: Any) -> str:
    """An image reference with a digest."""
    text = image(value)
    if "@" not in text:
        raise fault(
            f"image `{text}` has no digest, and what a tag means can change between two builds",
            f"write the digest that `docker buildx imagetools inspect {text}` prints, like "
            f"`{text}@sha256:…`",
        )
    return text
