"""An object in a file of others."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from compiler.diagnostics import Diagnostic
from compiler.manifest import Manifest
from compiler.source import Node


@dataclass(frozen=True, slots=True)
class Found:
    """The manifest, and the node that it was read from."""

    manifest: Manifest
    node: Node

    @property
    def path(self) -> str:
        """The file that the object is in."""
        return self.manifest.path


@dataclass(slots=True)
class Reading:
    """What the files hold: objects, kustomizations by their path, and what was passed over: templates, specs, files by
    the format that nobody reads here, ``others`` without any object, and ``broken`` ones, of which some was lost."""

    objects: list[Found] = field(default_factory=list)
    kustomizations: dict[str, dict[str, object]] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    files: set[str] = field(default_factory=set)
    templates: int = 0
    formats: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)
    others: int = 0
    specs: int = 0
