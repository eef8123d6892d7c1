"""The artifact: one thing that is written, of any format, with the spec lines that its fields came from."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeVar

from trainyard.language.dataclass import dataclass
from trainyard.language.places import Key, Route
from trainyard.plan.features import packages_of_platforms

Body = dict[str, Any]
Read = TypeVar("Read")
Places = dict[tuple[Key, ...], Route]


def group_of(api_version: str) -> str:
    """The API group of a version: ``apps`` of ``apps/v1``; of ``v1`` it is empty."""
    return api_version.rpartition("/")[0]


@dataclass(frozen=True, slots=True)
class ObjectRef:
    """What an artifact is called. ``namespace`` is empty for what has none.

    An object of Kubernetes calls itself so. Of what has no ``kind`` the format says one, and ``name`` is the path.
    """

    api_version: str
    kind: str
    namespace: str
    name: str

    @property
    def group(self) -> str:
        return group_of(self.api_version)

    def __str__(self) -> str:
        if self.namespace:
            return f"{self.kind}/{self.namespace}/{self.name}"
        return f"{self.kind}/{self.name}"


PART = "trainyard.dev/part"
"""The annotation of a ClusterConfig for some node groups of a cluster: eksctl requires the cluster's name in each."""


def ref_of(body: Mapping[str, Any]) -> ObjectRef:
    """The identity of a body; missing parts are empty."""
    metadata = body.get("metadata")
    if not isinstance(metadata, Mapping):
        metadata = {}
    kind = str(body.get("kind") or "")
    name = str(metadata.get("name") or "")
    if kind == "ClusterConfig":
        part = part_of(metadata)
        if part:
            name = f"{name}/{part}"
    return ObjectRef(
        str(body.get("apiVersion") or ""), kind, str(metadata.get("namespace") or ""), name
    )


def part_of(metadata: Mapping[str, Any]) -> str:
    """Which part of a cluster a ClusterConfig describes; empty for the cluster itself."""
    annotations = metadata.get("annotations")
    if isinstance(annotations, Mapping):
        return str(annotations.get(PART, ""))
    return ""


class UnjudgedError(TypeError):
    """An artifact of a format that no pass judges: it cannot be made, so that it is never written."""


_KINDS = {
    "cloudformation": "Template",
    "eksctl": "",
    "kubernetes": "",
    "markdown": "Page",
    "shell": "Script",
    "sops": "SopsConfig",
}
"""Every format that several platforms write, with the kind that it gives to what it writes; empty where bodies say
their own. Each is a module of ``trainyard.verify.formats``."""


@cache
def kinds_of_formats() -> Mapping[str, str]:
    """The formats of all, and those of single platforms, each with the kind of what it writes."""
    kinds = dict(_KINDS)
    for formats in packages_of_platforms("formats"):
        kinds.update(formats.KINDS)
    return kinds


def kind_of_format(name: str) -> str:
    """The kind that a format gives to what it writes. Raises ``UnjudgedError`` for an unknown format."""
    kind = kinds_of_formats().get(name)
    if kind is None:
        raise UnjudgedError(f"no module judges the format `{name}`")
    return kind


@dataclass(slots=True)
class Artifact:
    """One thing that is written: a body, or a text, where it is written, and where it came from.

    ``format`` names the module of ``trainyard.verify.formats`` that judges, reads back and writes it. ``path`` is
    relative to the cluster's folder. ``at`` is the spec route of the plan item behind it and ``origins`` maps field
    paths (tuples of keys into ``body``) to spec routes; a field takes the origin of its nearest ancestor. ``lists`` are
    those that stand in the spec item for item. ``key`` distinguishes third-party artifacts, of which several may have
    one name, or none. ``choices``: by key at the top of the body, all that may ever stand in its list
    (``output.emit.yaml.with_choices``). ``whole``: the route below which the spec has the body itself, field by
    field, as of what it includes. ``text``: what has no body; a function makes it when it is first read, since
    a run that writes nothing reads no page.
    """

    body: Body = dataclasses.field(default_factory=dict)
    path: str = ""
    at: Route = dataclasses.field(default_factory=Route)
    origins: dict[tuple[Key, ...], Route] = dataclasses.field(default_factory=dict)
    lists: tuple[tuple[Key, ...], ...] = ()
    key: str = ""
    choices: dict[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    whole: Route | None = dataclasses.field(default=None, kw_only=True)
    format: str = dataclasses.field(kw_only=True)
    text: str | Callable[[], str] = dataclasses.field(default="", kw_only=True, repr=False)
    _ref: ObjectRef | None = dataclasses.field(default=None, init=False, repr=False, compare=False)

    _id: str = dataclasses.field(default="", init=False, repr=False, compare=False)
    _read: dict[object, Any] | None = dataclasses.field(
        default=None, init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        kind_of_format(self.format)

    @property
    def ref(self) -> ObjectRef:
        """What it is called, which does not change."""
        if self._ref is None:
            kind = kind_of_format(self.format)
            if kind:
                self._ref = ObjectRef("", kind, "", self.path)
            else:
                self._ref = ref_of(self.body)
        return self._ref

    @property
    def id(self) -> str:
        """The first key of routes into this artifact: ``@Kind/namespace/name``, with its ``key`` where it has one."""
        if not self._id:
            self._id = f"@{self.ref}"
            if self.key:
                self._id += f"#{self.key}"
        return self._id

    def once(self, read: Callable[[Body], Read]) -> Read:
        """What a function reads of the body, which it does once: what is judged does not change any more."""
        if self._read is None:
            self._read = {}
        if read not in self._read:
            self._read[read] = read(self.body)
        known: Read = self._read[read]
        return known

    @property
    def content(self) -> str:
        """The text, made when it is first asked for."""
        if not isinstance(self.text, str):
            self.text = self.text()
        return self.text

    def origin(self, path: tuple[Key, ...]) -> Route:
        """The spec route that a field of the body came from."""
        for end in range(len(path), 0, -1):
            above = tuple(path[:end])
            route = self.origins.get(above)
            if route is not None:
                if end < len(path) and above in self.lists:
                    return route / path[end]
                return route
        if self.whole is None:
            return self.at
        return self.whole / tuple(path)

    def places(self) -> dict[tuple[Key, ...], Route]:
        """The origins of fields that are there: one that was left out has an origin too, where it would be set."""
        there = {}
        for path, route in self.origins.items():
            is_there = _has(self.body, path)
            if is_there:
                there[path] = route
        return there


def _has(body: Any, path: tuple[Key, ...]) -> bool:
    for key in path:
        if isinstance(body, dict):
            inside = key in body
        else:
            is_list = isinstance(body, list | tuple)
            inside = is_list and key in range(len(body))
        if not inside:
            return False
        body = body[key]
    return True
