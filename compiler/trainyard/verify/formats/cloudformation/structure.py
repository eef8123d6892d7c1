"""The structure of resource types: their properties, without CloudFormation's prose.

One file a type in ``data/``, in the derived form of ``trainyard.verify.structure``, read when a resource of the type is
first met. ``python -m trainyard.extensions.facts.derive_stacks`` writes them.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from trainyard.language.dataclass import dataclass
from trainyard.verify.node import Node, NodeTable

DATA = Path(__file__).parent / "data"


@dataclass(frozen=True, slots=True)
class Structure:
    """The properties of a type, and the attributes that ``Fn::GetAtt`` gives. ``fixed``: properties by their paths, of
    which another value makes another resource."""

    properties: Node
    attributes: tuple[str, ...]
    fixed: frozenset[str]


def file_name(resource_type: str) -> str:
    """``AWS-IAM-Role.json``."""
    return f"{resource_type.replace('::', '-')}.json"


@cache
def types() -> frozenset[str]:
    """The types whose structure is known."""
    files = DATA.glob("*.json")
    return frozenset(path.stem.replace("-", "::") for path in files)


@cache
def structure(resource_type: str) -> Structure | None:
    """The structure of a type; ``None`` for one that is not known."""
    if resource_type not in types():
        return None
    file = DATA / file_name(resource_type)
    raw = json.loads(file.read_bytes())
    table = NodeTable(raw["defs"])
    attributes = tuple(raw["attributes"])
    return Structure(table.node(raw["schema"]), attributes, frozenset(raw["fixed"]))
