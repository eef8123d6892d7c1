"""Where derived schemas are read from: the committed folder, and folders of a user's own."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from compiler.dataclass import dataclass
from compiler.verify.node import Node, NodeTable
from compiler.verify.structure import Raw, from_crd, shared

DATA = Path(__file__).parent / "data"


def file_name(group: str, version: str, kind: str, variant: str = "") -> str:
    """``karpenter.sh_v1_NodePool.json``; core kinds have an empty group; a variant of an older release ends in
    ``@2.1``.
    """
    return f"{group}_{version}_{kind}{f'@{variant}' if variant else ''}.json"


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
        self._known: dict[tuple[str, str], tuple[Schema, ...]] = {}
        self._listed: dict[Path, list[str]] = {}

    @classmethod
    def from_crds(cls, crds: Iterable[Raw]) -> Schemas:
        """Schemas of CustomResourceDefinitions as upstream releases them; nothing is read from a folder."""
        made = cls(())
        for crd in crds:
            for derived in from_crd(crd):
                made.add(derived)
        return made

    def copy(self) -> Schemas:
        """The same schemas, to which others can be added."""
        copied = Schemas(self._folders, self._pinned)
        copied._known = {key: found for key, found in self._known.items() if found}
        return copied

    def add(self, derived: Raw) -> None:
        """One more derived schema, in the form of ``structure.from_crd``. The first of a kind and version stays."""
        group, version = derived["group"], derived["version"]
        api = f"{group}/{version}" if group else version
        root, defs = shared(derived["schema"])
        self._known.setdefault(
            (api, derived["kind"]),
            (_schema({**derived, "schema": root, "defs": defs}),),
        )

    def find(self, api_version: str, kind: str) -> tuple[Schema, ...]:
        """The schemas to judge a kind by, the pinned or newest first; empty if it is not known."""
        key = (api_version, kind)
        if (found := self._known.get(key)) is None:
            found = self._known[key] = tuple(self._load(api_version, kind))
        return found

    def served(self) -> dict[str, list[str]]:
        """Every API version of each kind, the newest first."""
        names = [
            name.removesuffix(".json")
            for folder in self._folders
            for name in self._names(folder)
        ]
        split = [
            name.split("_", 2)
            for name in names
            if name.count("_") >= 2 and "@" not in name
        ]
        keys = {
            (f"{group}/{version}" if group else version, kind)
            for group, version, kind in split
        }
        keys |= {key for key, schemas in self._known.items() if schemas}
        found: dict[str, list[str]] = {}
        for api_version, kind in sorted(keys, reverse=True):
            found.setdefault(kind, []).append(api_version)
        return found

    def _load(self, api_version: str, kind: str) -> list[Schema]:
        group, _, version = api_version.rpartition("/")
        if not all(
            part.replace(".", "").replace("-", "").isalnum()
            for part in (version, kind, group or "core")
        ):
            return []  # no file name can be made of it
        for folder in self._folders:
            names, newest = self._names(folder), file_name(group, version, kind)
            if newest in names:
                start = file_name(group, version, kind, "*").partition("*")[0]
                others = [name for name in names if name.startswith(start)]
                return self._choose(
                    group, [_read(folder / name) for name in (newest, *others)]
                )
        return []

    def _names(self, folder: Path) -> list[str]:
        if folder not in self._listed:
            self._listed[folder] = sorted(os.listdir(folder)) if folder.is_dir() else []
        return self._listed[folder]

    def _choose(self, group: str, schemas: list[Schema]) -> list[Schema]:
        if (pin := self._pinned.get(group)) is None:
            return schemas
        return [schema for schema in schemas if schema.variant == pin] or schemas[:1]


def _read(path: Path) -> Schema:
    return _schema(
        json.loads(path.read_text(encoding="utf-8")), path.stem.partition("@")[2]
    )


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
