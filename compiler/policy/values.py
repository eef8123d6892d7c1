"""Reading what is not typed in the plan: bodies of manifests and values of charts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from compiler.plan.nodes import Toleration


def value(values: Any, *path: str) -> Any:
    """A value deep in a mapping, or ``None``."""
    for key in path:
        values = values.get(key) if isinstance(values, Mapping) else None
    return values


def tolerations(values: Any) -> tuple[Toleration, ...]:
    """Tolerations as written in Helm values."""
    found = values if isinstance(values, list | tuple) else ()
    return tuple(
        Toleration(str(each.get("key", "")), str(each.get("operator", "Equal")), str(each.get("value", "")),
                   str(each.get("effect", "")))
        for each in found if isinstance(each, Mapping)
    )
