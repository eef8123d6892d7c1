"""AWS managed policies: their names, and the path of each (``data/managed_policies.json``).

The path is part of the ARN, and a policy is attached by its ARN. So a wrong path fails like a name that does not exist
(``NoSuchEntity``).
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from trainyard.catalog.catalog import DATA


@cache
def _data() -> dict[str, Any]:
    text = (DATA / "managed_policies.json").read_bytes()
    data: dict[str, Any] = json.loads(text)
    return data


@cache
def _paths() -> dict[str, str]:
    paths = {}
    for path, names in _data()["policies"].items():
        for name in names:
            paths[name] = path
    return paths


def newest() -> str:
    """The day of the newest change of a policy that the table has seen."""
    day: str = _data()["newest"]
    return day


def names() -> tuple[str, ...]:
    """All that are known, by name."""
    return tuple(_paths())


def path_of(name: str) -> str | None:
    """The path of a policy, such as ``/service-role/``; ``None`` of a name that is not known."""
    return _paths().get(name)


def arn_of(name: str, partition: str = "aws") -> str:
    """The ARN of a policy.

    Raises:
        KeyError: no such policy is known.
    """
    return f"arn:{partition}:iam::aws:policy{_paths()[name]}{name}"
