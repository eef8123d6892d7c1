"""Fields by minor version: what the data files say exists in the schemas, and is looked for where pods have it."""

from __future__ import annotations

from itertools import pairwise

import pytest
from trainyard.catalog import load_catalog
from trainyard.catalog.minors import unknown_fields
from trainyard.judge.model.core_types import typed_parts
from trainyard.output.manifest import Manifest
from trainyard.verify.node import Node
from trainyard.verify.schemas import BUILTIN

MINORS = load_catalog().newest_release.minors
EVERY_FIELD = [
    (name, field) for name, fields in unknown_fields(MINORS, "1.0").items() for field in fields
]
CONTAINER = {"env": [{"valueFrom": {}}], "lifecycle": {}}
CLAIM = {"dataSourceRef": {}}
POD = Manifest(
    {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a"},
        "spec": {
            "containers": [CONTAINER],
            "volumes": [
                {"projected": {"sources": [{}]}},
                {"ephemeral": {"volumeClaimTemplate": {"spec": CLAIM}}},
            ],
        },
    }
)


def node_at(path: tuple[str | int, ...]) -> Node:
    (schema, *_) = BUILTIN.find("v1", "Pod")
    node: Node | None = schema.root
    for key in path:
        assert node is not None
        node = node.items if isinstance(key, int) else node.child(key)
    assert node is not None
    return node


@pytest.mark.parametrize(("name", "field"), EVERY_FIELD)
def test_a_field_of_a_later_minor_is_one_of_its_type(name: str, field: str) -> None:
    places = [path for each, path, _ in typed_parts(POD) if each == name]
    assert places, f"no place of {name} is known"
    for path in places:
        assert node_at(path).prop(field) is not None, (path, field)


def test_an_older_minor_lacks_what_a_newer_one_lacks() -> None:
    lacking = [
        {
            (name, field)
            for name, fields in unknown_fields(MINORS, minor).items()
            for field in fields
        }
        for minor in MINORS
    ]
    for older, newer in pairwise(lacking):
        assert newer <= older
    assert lacking[0] > lacking[-1] > set()
