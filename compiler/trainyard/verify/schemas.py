"""Loads derived schemas: from the package, and from the user's own folders."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from trainyard.language.dataclass import dataclass
from trainyard.verify.node import Node, NodeTable
from trainyard.verify.structure import Raw, from_crd, shared

DATA = Path(__file__).parent / "data"

_Kind = tuple[str, str]  # API version and kind


def file_name(group: str, version: str, kind: str, variant: str = "") -> str:
    """``karpenter.sh_v1_NodePool.json``; core kinds have an empty group; a variant of an older release ends in
    ``@2.1``.
    """
    suffix = f"@{variant}" if variant else ""
    return f"{group}_{version}_{kind}{suffix}.json"


@dataclass(frozen=True, slots=True)
class Schema:
    """The derived schema of one kind and version, and where it comes from."""

    root: Node
    scope: str
    project: str
    release: str
    source: str
    variant: str = ""

    @property
    def namespaced(self) -> bool:
        return self.scope == "Namespaced"


class Schemas:
    """Derived schemas by group, version and kind, each read when it is first asked for.

    ``folders`` are searched in order, so that a user's own come first. Other releases of a kind are its variants;
    ``pinned`` names, by API group, the one to judge by (``{"trainer.kubeflow.org": "2.1"}``); without a pin, the
    newest.
    """

    def __init__(
        self, folders: Iterable[Path] = (DATA,), pinned: Mapping[str, str] | None = None
    ) -> None:
        self._folders = tuple(folders)
        self._pinned = dict(pinned or {})
        self._known: dict[_Kind, tuple[Schema, ...]] = {}
        self._file_names: dict[Path, list[str]] = {}

    @classmethod
    def from_crds(cls, crds: Iterable[Raw]) -> Schemas:
        """Schemas of CustomResourceDefinitions as upstream releases them; nothing is read from a folder."""
        schemas = cls(())
        for crd in crds:
            for derived in from_crd(crd):
                schemas.add(derived)
        return schemas

    def copy(self) -> Schemas:
        """The same schemas, to which others can be added."""
        copied = Schemas(self._folders, self._pinned)
        known = self._known.items()
        copied._known = {key: schemas for key, schemas in known if schemas}
        return copied

    def add(self, derived: Raw) -> None:
        """One more derived schema, in the form of ``structure.from_crd``. The first of a kind and version stays."""
        api_version = _api_version(derived["group"], derived["version"])
        key = (api_version, derived["kind"])
        root, defs = shared(derived["schema"])
        schema = _schema({**derived, "schema": root, "defs": defs})
        self._known.setdefault(key, (schema,))

    def find(self, api_version: str, kind: str) -> tuple[Schema, ...]:
        """The schemas to judge a kind by, the pinned or newest first; empty if it is not known."""
        key = (api_version, kind)
        schemas = self._known.get(key)
        if schemas is None:
            schemas = tuple(self._load(api_version, kind))
            self._known[key] = schemas
        return schemas

    def served(self) -> dict[str, list[str]]:
        """Every API version of each kind, the newest first."""
        known = self._known.items()
        keys = {key for key, schemas in known if schemas}
        for folder in self._folders:
            keys.update(_keys(self._names(folder)))
        api_versions: dict[str, list[str]] = {}
        for api_version, kind in sorted(keys, reverse=True):
            api_versions.setdefault(kind, []).append(api_version)
        return api_versions

    def _load(self, api_version: str, kind: str) -> list[Schema]:
        group, _, version = api_version.rpartition("/")
        parts = (version, kind, group or "core")
        if not all(map(_is_part_of_name, parts)):
            return []
        newest = file_name(group, version, kind)
        variants = newest.removesuffix(".json") + "@"
        for folder in self._folders:
            names = self._names(folder)
            if newest in names:
                others = [name for name in names if name.startswith(variants)]
                chosen = self._choose(group, [newest, *others])
                return [_read(folder / name) for name in chosen]
        return []

    def _names(self, folder: Path) -> list[str]:
        if folder not in self._file_names:
            self._file_names[folder] = sorted(os.listdir(folder))
        return self._file_names[folder]

    def _choose(self, group: str, names: list[str]) -> list[str]:
        pin = self._pinned.get(group)
        if pin is None:
            return names
        ending = f"@{pin}.json"
        chosen = [name for name in names if name.endswith(ending)]
        return chosen or names[:1]


def _api_version(group: str, version: str) -> str:
    if group:
        return f"{group}/{version}"
    return version


def _keys(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """API version and kind of each file that is named like one of a schema; variants left out."""
    for name in names:
        parts = name.removesuffix(".json").split("_", 2)
        if len(parts) == 3 and "@" not in name:
            group, version, kind = parts
            yield _api_version(group, version), kind


def _is_part_of_name(text: str) -> bool:
    """Whether a text can be in the name of a file."""
    return text.replace(".", "").replace("-", "").isalnum()


def _read(path: Path) -> Schema:
    raw = json.loads(path.read_text(encoding="utf-8"))
    _, _, variant = path.stem.partition("@")
    return _schema(raw, variant)


def _schema(raw: Raw, variant: str = "") -> Schema:
    table = NodeTable(raw.get("defs", []))
    return Schema(
        table.node(raw["schema"]),
        raw["scope"],
        raw.get("project", ""),
        raw.get("release", ""),
        raw.get("source", ""),
        variant,
    )


BUILTIN = Schemas()
