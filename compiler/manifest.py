"""The manifest: one rendered object, and which line of the spec each of its fields came from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from compiler.source import Key, Route

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ObjectRef:
    """Identity of an object. ``namespace`` is empty for cluster-scoped ones."""

    api_version: str
    kind: str
    namespace: str
    name: str

    @property
    def group(self) -> str:
        return self.api_version.rpartition("/")[0]

    def __str__(self) -> str:
        return (
            f"{self.kind}/{self.namespace}/{self.name}"
            if self.namespace
            else f"{self.kind}/{self.name}"
        )


def ref_of(body: Mapping[str, Any]) -> ObjectRef:
    """The identity of a body; what is missing is empty."""
    metadata = body.get("metadata")
    metadata = metadata if isinstance(metadata, Mapping) else {}
    return ObjectRef(
        str(body.get("apiVersion") or ""),
        str(body.get("kind") or ""),
        str(metadata.get("namespace") or ""),
        str(metadata.get("name") or ""),
    )


_PLACEHOLDER = re.compile(r"\$\{|\$\(|\{\{|\A\$[A-Za-z_]\w*\Z")


def placeholder(text: str) -> bool:
    """Whether a value is filled in later, by Flux or a shell (``${NAME}``, ``$NAME``, ``$(command)``) or a template
    (``{{ … }}``): what it will be is unknown."""
    return _PLACEHOLDER.search(text) is not None


@dataclass(slots=True)
class Manifest:
    """One object: body, where it is written, and where it came from.

    ``path`` is relative to the cluster's folder. ``at`` is the spec route of the plan node behind it and
    ``origins`` maps field paths (tuples of keys into ``body``) to spec routes; a field takes the
    origin of its nearest ancestor. ``lists`` are those that stand in the spec item for item. ``key`` tells
    objects of others apart, of which several may have one name, or none. ``choices``: by key at the top of the body,
    all that may ever stand in its list (``compiler.emit.yaml.with_choices``).
    """

    body: Body
    path: str = ""
    at: Route = field(default_factory=Route)
    origins: dict[tuple[Key, ...], Route] = field(default_factory=dict)
    lists: tuple[tuple[Key, ...], ...] = ()
    key: str = ""
    choices: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _ref: ObjectRef | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def ref(self) -> ObjectRef:
        """The identity of the body, which does not change."""
        if self._ref is None:
            self._ref = ref_of(self.body)
        return self._ref

    @property
    def id(self) -> str:
        """The first key of routes into this manifest: ``@Kind/namespace/name``, with its ``key`` where it has one."""
        return f"@{self.ref}#{self.key}" if self.key else f"@{self.ref}"

    def origin(self, path: tuple[Key, ...]) -> Route:
        """The spec route that a field of the body came from."""
        for end in range(len(path), 0, -1):
            if (found := self.origins.get(tuple(path[:end]))) is not None:
                return (
                    found / path[end]
                    if end < len(path) and path[:end] in self.lists
                    else found
                )
        return self.at

    def places(self) -> dict[tuple[Key, ...], Route]:
        """The origins of fields that are there: one that was left out has an origin too, where it would be set."""
        return {
            path: route for path, route in self.origins.items() if _has(self.body, path)
        }


def _has(body: Any, path: tuple[Key, ...]) -> bool:
    for key in path:
        inside = (
            key in body
            if isinstance(body, dict)
            else isinstance(body, list | tuple) and key in range(len(body))
        )
        if not inside:
            return False
        body = body[key]
    return True
