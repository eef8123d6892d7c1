"""Secret (k8s.io/kubernetes v1.36, pkg/apis/core/validation ValidateSecret). Values are never shown."""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Iterator

from trainyard.output.body import value_at
from trainyard.output.manifest import Body, placeholder
from trainyard.verify.fault import Fault, refused
from trainyard.verify.webhooks import Lookup
from trainyard.verify.webhooks._keys import MOST_BYTES, data_keys, decoded_size, without_line_breaks

GROUP = ""


def check(body: Body, lookup: Lookup) -> Iterator[Fault]:
    data = value_at(body, "data") or {}
    yield from data_keys("data", data)
    yield from data_keys("stringData", value_at(body, "stringData") or {})
    for key, value in data.items():
        if placeholder(str(value)):
            continue
        try:
            b64decode(without_line_breaks(str(value)), validate=True)
        except binascii.Error:
            yield refused(
                ("data", key),
                f"the value of `{key}` is not base64",
                "write plain text in `stringData`",
                key=True,
            )
    size = _size(body)
    if size > MOST_BYTES:
        yield refused(
            ("data",) if data else ("stringData",),
            f"{size} bytes are more than the {MOST_BYTES} that a Secret holds",
            "split it into several",
            key=True,
        )


def _size(body: Body) -> int:
    """The bytes of all values. `stringData` is written over `data`; what SOPS encrypted is shorter once it is plain."""
    if "sops" in body:
        return 0
    values = {}
    for key, value in (value_at(body, "data") or {}).items():
        values[key] = decoded_size(str(value))
    for key, value in (value_at(body, "stringData") or {}).items():
        values[key] = len(str(value).encode("utf-8", "surrogatepass"))
    return sum(values.values())
