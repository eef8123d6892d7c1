"""Secret (k8s.io/kubernetes v1.36, pkg/apis/core/validation ValidateSecret). Values are never shown."""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Iterator

from compiler.manifest import Body
from compiler.output.body import at
from compiler.verify.fault import Fault, refused
from compiler.verify.webhooks import Lookup
from compiler.verify.webhooks._keys import data_keys

GROUP = ""


def check(
    body: Body,
    lookup: Lookup,
) -> Iterator[Fault]:
    data = at(body, "data") or {}
    yield from data_keys("data", data)
    yield from data_keys("stringData", at(body, "stringData") or {})
    for key, value in data.items():
        try:
            b64decode(_without_line_breaks(str(value)), validate=True)
        except binascii.Error:
            yield refused(
                ("data", key),
                f"the value of `{key}` is not base64",
                "write plain text in `stringData`",
                key=True,
            )


def _without_line_breaks(text: str) -> str:
    """What Go decodes: it passes over line breaks (encoding/base64)."""
    return text.replace("\n", "").replace("\r", "")
