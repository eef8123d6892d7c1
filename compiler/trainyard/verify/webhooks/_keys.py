"""Keys of ConfigMap and Secret data (k8s.io/apimachinery v0.36, IsConfigMapKey; size: MaxSecretSize, 1 MiB)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from trainyard.verify.fault import Fault, refused

MOST_BYTES = 1 << 20
_KEY = re.compile(r"(?!\.{1,2}\Z)(?!\.\.)[-._a-zA-Z0-9]{1,253}\Z")


def decoded_size(text: str) -> int:
    """The bytes that a text in base64 becomes."""
    plain = without_line_breaks(text)
    return len(plain) * 3 // 4 - plain.count("=")


def without_line_breaks(text: str) -> str:
    """What Go decodes: it passes over line breaks (encoding/base64)."""
    return text.replace("\n", "").replace("\r", "")


def data_keys(field: str, data: dict[str, Any]) -> Iterator[Fault]:
    """Faults of the keys, which become names of files."""
    for key in data:
        if not _KEY.match(key):
            yield refused(
                (field, key),
                f"`{key}` is not a file name",
                "use letters, digits, `-`, `_` and `.`",
                key=True,
            )
