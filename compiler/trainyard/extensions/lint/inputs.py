"""The result of reading third-party files: objects, artifacts, and the place of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from trainyard.language.dataclass import dataclass
from trainyard.language.diagnostics import Diagnostic
from trainyard.language.places import Document, Key, Node, Route, SourceFile
from trainyard.language.source.manifests import parse_manifests
from trainyard.output import Artifact
from trainyard.output.manifest import Manifest


@dataclass(slots=True)
class Text:
    """A file that objects were read from. Its documents are made when a place in it is asked for: a file without
    findings needs no lines. ``tags``: the short forms of its format."""

    file: SourceFile
    documents: list[Document] = field(default_factory=list)
    tags: Mapping[str, str] = field(default_factory=dict)

    def node(self, where: Route) -> Node:
        """The node of a route, which begins with the number of the document."""
        if not self.documents:
            self.documents, _ = parse_manifests(self.file, self.tags)
        number, *route = where
        document = self.documents[int(number)]
        node, _ = document.node(Route(route))
        return node


@dataclass(frozen=True, slots=True)
class LintArtifact:
    """An artifact of a third party, and where it was read: the text, and the route in it."""

    artifact: Artifact
    text: Text
    where: Route

    @property
    def node(self) -> Node:
        """The node that the artifact was read from."""
        return self.text.node(self.where)

    def place(self, path: tuple[Key, ...]) -> tuple[Node, Route]:
        """The node that has a field, and the route from it."""
        return self.node, Route(path)


Place = tuple[Text, Route, Route]
"""A text, the document or value in it, and a route in that."""


@dataclass(frozen=True, slots=True)
class LintObject:
    """An object of a third party, and where it was read: the text, and the route in it. ``changed``: where the fields
    are written that a kustomization changes, by their path."""

    manifest: Manifest
    text: Text
    where: Route
    changed: Mapping[tuple[Key, ...], Place] = field(default_factory=dict)

    @property
    def artifact(self) -> Artifact:
        """The manifest, as one artifact among those of other formats."""
        return self.manifest

    @property
    def node(self) -> Node:
        """The node that the manifest was read from."""
        return self.text.node(self.where)

    @property
    def path(self) -> str:
        """The file that the object is in."""
        return self.manifest.path

    def place(self, path: tuple[Key, ...]) -> tuple[Node, Route]:
        """The node that has a field, and the route from it."""
        for depth in range(len(path), 0, -1):
            if not self.changed:
                break
            changed = self.changed.get(path[:depth])
            if changed is not None:
                text, where, route = changed
                return text.node(where), Route((*route, *path[depth:]))
        return self.node, Route(path)


@dataclass(slots=True)
class Reading:
    """What the files hold, and what was passed over.

    ``found``: bodies of objects, until all are read. ``alone``: what is judged by itself, as templates of
    CloudFormation are. ``kustomizations``: bodies by path.
    ``patches`` are documents that say of themselves that they are one, ``observed`` those of a state;
    ``deleted`` are the objects that such patches take away.
    ``formats``: files of formats that nobody reads here, by the end of their names. ``broken``: paths of files of which
    a part was lost. ``others``: files without any object. ``kindless``: documents that are no objects, as the
    description of a chart is. ``left_out``: variables that stand for lines of a file, which nothing is known of.
    """

    objects: list[LintObject] = field(default_factory=list)
    found: list[tuple[dict[str, Any], Text, Route]] = field(default_factory=list)
    alone: list[LintArtifact] = field(default_factory=list)
    kustomizations: dict[str, dict[str, object]] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    files: set[str] = field(default_factory=set)
    templates: int = 0
    formats: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)
    others: int = 0
    kindless: int = 0
    specs: int = 0
    patches: int = 0
    deleted: set[str] = field(default_factory=set)
    observed: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
