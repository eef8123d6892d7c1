"""The arguments of the AWS provider's resource types, and the attributes that others may refer to.

One file a type in ``data/``, read when a resource of the type is first met: each argument ``is`` a `string`, `number`,
`bool`, a `list` or `map` ``of`` something, one `block` or several `blocks` of arguments, or `any`; ``required`` where
the provider says so.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from trainyard.language.dataclass import dataclass

DATA = Path(__file__).parent / "data"
Shape = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Structure:
    """The arguments of a type by name, and the attributes that a reference gives."""

    arguments: Mapping[str, Shape]
    attributes: frozenset[str]


@cache
def types() -> frozenset[str]:
    """The types whose structure is known."""
    files = DATA.glob("*.json")
    return frozenset(path.name.removesuffix(".json") for path in files)


@cache
def structure(name: str) -> Structure | None:
    """The structure of a type; ``None`` for one that is not known."""
    if name not in types():
        return None
    file = DATA / f"{name}.json"
    raw = json.loads(file.read_bytes())
    return Structure(raw["arguments"], frozenset(raw["attributes"]))
