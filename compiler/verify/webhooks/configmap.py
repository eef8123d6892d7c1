"""ConfigMap (k8s.io/kubernetes v1.36, pkg/apis/core/validation ValidateConfigMap)."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.manifest import Body
from compiler.verify.fault import Fault, refused
from compiler.verify.objects import at
from compiler.verify.webhooks import Lookup
from compiler.verify.webhooks._keys import MOST_BYTES, data_keys

GROUP = ""


def check(body: Body, lookup: Lookup) -> Iterator[Fault]:
    texts, binaries = at(body, "data") or {}, at(body, "binaryData") or {}
    yield from data_keys("data", texts)
    yield from data_keys("binaryData", binaries)
    for key in sorted(set(texts) & set(binaries)):
        yield refused(("binaryData", key), f"`{key}` is also in `data`", key=True, help="keep it in one of them")
    size = sum(len(str(value).encode()) for value in texts.values()) + sum(
        len(str(value)) * 3 // 4 for value in binaries.values()
    )
    if size > MOST_BYTES:
        yield refused(("data",), f"{size} bytes are more than the {MOST_BYTES} that a ConfigMap holds", key=True,
                      help="split it into several")
