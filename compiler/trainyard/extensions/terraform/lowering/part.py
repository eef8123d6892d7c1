"""The Terraform that one resource of a stack becomes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from trainyard.extensions.terraform.lowering.expressions import Names

Properties = Mapping[str, Any]


class Part(NamedTuple):
    """A resource of the provider. ``suffix`` tells it from the first of its logical name; ``of`` is the property that
    it is made from, empty where it is made from all."""

    type: str
    arguments: dict[str, Any]
    suffix: str = ""
    of: str = ""


Make = Callable[[Properties, Names, str], Iterator[Part]]


def tags_of(tags: list[dict[str, str]]) -> dict[str, str]:
    return {tag["Key"]: tag["Value"] for tag in tags}


def tags_in(properties: Properties) -> dict[str, str] | None:
    if "Tags" in properties:
        return tags_of(properties["Tags"])
    return None
