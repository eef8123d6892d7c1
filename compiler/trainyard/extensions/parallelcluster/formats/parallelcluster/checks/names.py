"""Names and numbers of queues, compute resources and storage (NameValidator, DuplicateNameValidator, MaxCount)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from trainyard.extensions.parallelcluster.formats.parallelcluster.checks.parts import (
    Part,
    queues_of,
    resources_of,
)
from trainyard.verify.fault import Fault, refused

_NAME = re.compile(r"[a-z][a-z0-9-]*\Z")
_LONGEST, _LONGEST_STORAGE = 25, 30
_MOST_QUEUES, _MOST_RESOURCES, _MOST_TAGS = 50, 50, 40
_RESERVED = re.compile(r"-(?:st|dy)-")


def faults(body: dict[str, Any]) -> Iterator[Fault]:
    queues = list(queues_of(body))
    resources = [resource for queue in queues for resource in resources_of(queue)]
    yield from _named(queues, "queue", _LONGEST)
    for queue in queues:
        yield from _named(list(resources_of(queue)), "compute resource", _LONGEST)
    yield from _too_many(queues, _MOST_QUEUES, "queues")
    yield from _too_many(resources, _MOST_RESOURCES, "compute resources")
    yield from _too_many(list(Part(body).items("Tags")), _MOST_TAGS, "tags")
    storage = list(Part(body).items("SharedStorage"))
    yield from _distinct(storage, "storage")


def _named(parts: list[Part], what: str, longest: int) -> Iterator[Fault]:
    for part in parts:
        name = part.text("Name")
        if name is None:
            continue
        path = part.at("Name")
        if not _NAME.match(name) or name == "default":
            yield refused(
                path,
                f"a {what} cannot be called `{name}`",
                "write lower case letters, digits and `-`, with a letter first, and not `default`",
            )
        elif len(name) > longest:
            yield refused(
                path,
                f"the name of a {what} has {longest} characters at most, and `{name}` has {len(name)}",
                "shorten it",
            )
        elif _RESERVED.search(name):
            yield refused(
                path,
                f"`{name}` would be read as the name of a node, which has `-st-` or `-dy-`",
                "rename it",
            )
    yield from _distinct(parts, what)


def _distinct(parts: Iterable[Part], what: str) -> Iterator[Fault]:
    known: set[str] = set()
    for part in parts:
        name = part.text("Name")
        if name is None:
            continue
        if name in known:
            yield refused(
                part.at("Name"),
                f"two of `{name}`, and each {what} has a name of its own",
                "rename one",
            )
        known.add(name)


def _too_many(parts: list[Part], most: int, what: str) -> Iterator[Fault]:
    if len(parts) > most:
        yield refused(
            parts[most].path,
            f"{len(parts)} {what}, and ParallelCluster takes {most}",
            "remove some",
        )
