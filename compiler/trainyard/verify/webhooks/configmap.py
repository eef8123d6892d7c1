"""ConfigMap (k8s.io/kubernetes v1.36, pkg/apis/core/validation ValidateConfigMap)."""

from __future__ import annotations

import json
from collections.abc import Iterator

from trainyard.output.body import value_at
from trainyard.output.manifest import Body, placeholder
from trainyard.verify.fault import Fault, never_works, refused
from trainyard.verify.webhooks import Lookup
from trainyard.verify.webhooks._keys import MOST_BYTES, data_keys, decoded_size

GROUP = ""


def check(body: Body, lookup: Lookup) -> Iterator[Fault]:
    data = value_at(body, "data") or {}
    binary_data = value_at(body, "binaryData") or {}
    yield from data_keys("data", data)
    yield from data_keys("binaryData", binary_data)
    twice = data.keys() & binary_data.keys()
    for key in sorted(twice):
        message = f"`{key}` is also in `data`"
        yield refused(("binaryData", key), message, "keep it in one of them", key=True)
    for key, text in data.items():
        is_json = key.endswith(".json")
        if not is_json or not isinstance(text, str):
            continue
        problem = _not_json(text)
        if problem:
            message = f"`{key}` is no JSON: {problem}"
            yield never_works(("data", key), message, "correct the text", key=True)
    size = 0
    for value in data.values():
        size += len(str(value).encode())
    for value in binary_data.values():
        size += decoded_size(str(value))
    if size > MOST_BYTES:
        yield refused(
            ("data" if data else "binaryData",),
            f"{size} bytes are more than the {MOST_BYTES} that a ConfigMap holds",
            key=True,
            help="split it into several",
        )


def _not_json(text: str) -> str:
    """Why a text that begins like JSON is none, or nothing."""
    begins_like_json = text.lstrip().startswith(("{", "["))
    if not begins_like_json:
        return ""
    problem = ""
    try:
        json.loads(text)
    except ValueError as fault:
        problem = str(fault)
    except RecursionError:
        problem = "it is nested too deeply"
    if problem and placeholder(text):
        return ""
    return problem
