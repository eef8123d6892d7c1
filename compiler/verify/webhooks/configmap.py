"""ConfigMap (k8s.io/kubernetes v1.36, pkg/apis/core/validation ValidateConfigMap)."""

from __future__ import annotations

import json
from collections.abc import Iterator

from compiler.manifest import Body, placeholder
from compiler.output.body import at
from compiler.verify.fault import Fault, never_works, refused
from compiler.verify.webhooks import Lookup
from compiler.verify.webhooks._keys import MOST_BYTES, data_keys

GROUP = ""


def check(body: Body, lookup: Lookup) -> Iterator[Fault]:
    texts, binaries = at(body, "data") or {}, at(body, "binaryData") or {}
    yield from data_keys("data", texts)
    yield from data_keys("binaryData", binaries)
    for key in sorted(set(texts) & set(binaries)):
        yield refused(
            ("binaryData", key),
            f"`{key}` is also in `data`",
            key=True,
            help="keep it in one of them",
        )
    for key, text in texts.items():
        if (
            key.endswith(".json")
            and isinstance(text, str)
            and (problem := _not_json(text))
        ):
            yield never_works(
                ("data", key),
                f"`{key}` is no JSON: {problem}",
                "mend the text",
                key=True,
            )
    size = sum(len(str(value).encode()) for value in texts.values()) + sum(
        len(str(value)) * 3 // 4 for value in binaries.values()
    )
    if size > MOST_BYTES:
        yield refused(
            ("data",),
            f"{size} bytes are more than the {MOST_BYTES} that a ConfigMap holds",
            key=True,
            help="split it into several",
        )


def _not_json(text: str) -> str:
    """Why a text that begins like JSON is none, or nothing."""
    if not text.lstrip().startswith(("{", "[")) or placeholder(text):
        return ""
    try:
        json.loads(text)
    except ValueError as problem:
        return str(problem)
    except RecursionError:
        return "it is nested too deeply"
    return ""
