from __future__ import annotations

import json
import marshal
import math
from collections.abc import Iterator
from typing import Any

from trainyard.judge.model.values import mapping
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.places import Route
from trainyard.output.manifest import Manifest

Path = tuple[str | int, ...]


@rule("LIM041", params={"bytes": 1_572_864})
def object_too_large(manifest: Manifest, world: World) -> Iterator[Finding]:
    """An object is larger than what etcd takes in one request.

    etcd refuses a request of more than 1.5 MiB, `--max-request-bytes` (etcd v3.6, server/embed/config.go,
    DefaultMaxRequestBytes), and the API server answers `etcdserver: request is too large`. An
    object counts as it is stored: custom resources as JSON, and the name of each label and annotation once more in
    `metadata.managedFields` (Kubernetes, server-side apply). Where these do not fit, a request to apply is refused, and
    Flux makes no other (kubernetes/kubernetes pull request 87508). Kubernetes' own kinds are stored in a shorter form,
    of which only the texts are counted. `bytes` is the limit of etcd.

    ## Fails

        # params: {bytes: 4500}
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: prompts, namespace: team-a}
        data: {
          k0: &text "012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789",
          k1: *text, k2: *text, k3: *text, k4: *text, k5: *text, k6: *text, k7: *text,
          k8: *text, k9: *text, k10: *text, k11: *text, k12: *text, k13: *text, k14: *text,
          k15: *text, k16: *text, k17: *text, k18: *text, k19: *text, k20: *text, k21: *text,
          k22: *text, k23: *text, k24: *text, k25: *text, k26: *text, k27: *text, k28: *text,
          k29: *text, k30: *text, k31: *text, k32: *text, k33: *text, k34: *text, k35: *text,
          k36: *text, k37: *text, k38: *text, k39: *text, k40: *text, k41: *text, k42: *text,
          k43: *text, k44: *text, k45: *text, k46: *text, k47: *text, k48: *text, k49: *text,
          k50: *text, k51: *text, k52: *text, k53: *text}

    ## Passes

        jobs: [{name: llama, args: ["--list=0123456789"]}]

        # params: {bytes: 4500}
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: prompts, namespace: team-a}
        data: {a: "012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"}
    """
    if manifest.format != "kubernetes":
        return
    most = world.param("bytes")
    if _at_most(manifest) <= most:
        return
    size = _stored(manifest)
    if size <= most:
        return
    path = _heaviest(manifest.body)
    yield Finding(
        f"object `{manifest.ref}` takes {size:,} bytes in etcd, which takes {most:,} at most",
        Route((manifest.id, *path)),
        label="most of it is here",
        key=True,
        help="write less, or keep it in a file system or a bucket and name its path",
    )


def _at_most(manifest: Manifest) -> float:
    """No less than what an object takes, at a fifth of what JSON costs. There a value takes six bytes at most for each
    that it takes here, and the names of labels count twice."""
    try:
        return 8 * len(marshal.dumps(manifest.body, 2))
    except ValueError:  # a value of a class of its own
        return math.inf


def _json(value: Any) -> str:
    return json.dumps(value, default=str, skipkeys=True)


def _stored(manifest: Manifest) -> int:
    """The bytes of an object in etcd, at least."""
    if _is_builtin(manifest.ref.group):
        return _texts(manifest.body)
    stored = json.dumps(
        manifest.body, default=str, skipkeys=True, ensure_ascii=False, separators=(",", ":")
    )
    return len(stored.encode("utf-8", "surrogatepass")) + _managed(manifest.body)


def _is_builtin(group: str) -> bool:
    """Whether a kind is stored as protobuf. Groups of custom resources may end in the same way: less is counted."""
    return "." not in group or group.endswith(".k8s.io")


def _texts(value: Any) -> int:
    if isinstance(value, str):
        return len(value.encode("utf-8", "surrogatepass"))
    if isinstance(value, dict):
        return sum(map(_texts, value.values()))
    if isinstance(value, list):
        return sum(map(_texts, value))
    return 0


def _managed(body: Any) -> int:
    """The bytes of labels and annotations in `managedFields`: `"f:NAME":{},` each."""
    total = 0
    for field in ("labels", "annotations"):
        for name in mapping(body, "metadata", field):
            total += len(str(name).encode("utf-8", "surrogatepass")) + len('"f:":{},')
    return total


def _heaviest(body: Any) -> Path:
    """The path to what makes most of an object: the last value that has more than half of it."""
    path: Path = ()
    half = len(_json(body)) // 2
    inside: Any = body
    while True:
        entries = _entries(inside)
        sizes = {key: len(_json(value)) for key, value in entries}
        largest = max(sizes, key=sizes.__getitem__, default=None)
        if largest is None or sizes[largest] <= half:
            return path
        path = (*path, largest)
        inside = inside[largest]


def _entries(value: Any) -> Iterator[tuple[str | int, Any]]:
    if isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, list):
        yield from enumerate(value)
