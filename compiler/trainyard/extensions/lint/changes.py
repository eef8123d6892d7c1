"""What one kustomization changes in objects of its bases: its patches, and keys that its generators add.

Source: kustomize v5.8, api/types/kustomization.go (``patches``, ``patchesStrategicMerge``, ``patchesJson6902``,
``configMapGenerator``, ``secretGenerator``). Files are read where kustomize reads them: in the folder of the
kustomization, or below it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import Any

from trainyard.disk.inputs import real_path
from trainyard.eks.overrides.plan import Operation
from trainyard.extensions.lint.elsewhere import Made
from trainyard.extensions.lint.inputs import Text
from trainyard.language.dataclass import dataclass
from trainyard.language.places import Route, SourceFile
from trainyard.language.source.manifests import parse_manifests
from trainyard.language.source.read import read
from trainyard.output.body import indexed, texts_at, value_at
from trainyard.output.manifest import Body, ref_of
from trainyard.run.patching.merge import merge
from trainyard.run.patching.operations import operate
from trainyard.run.patching.place import Draft, PatchError
from trainyard.run.patching.select import has_labels

Names = AbstractSet[str]
"""The names of an object on its way through kustomizations."""


@dataclass(frozen=True, slots=True)
class Target:
    """What a patch is for, as its ``target`` says: patterns, of which an absent one fits everything."""

    said: Mapping[str, Any]

    def fits(self, body: Body, names: Names) -> bool:
        """Whether an object is one that the patch is for."""
        ref = ref_of(body)
        version = ref.api_version.rpartition("/")[2]
        namespace = self.said.get("namespace")
        return (
            _fits(self.said.get("group"), ref.group)
            and _fits(self.said.get("version"), version)
            and _fits(self.said.get("kind"), ref.kind)
            and any(_fits(self.said.get("name"), name) for name in names)
            # A namespace that a kustomization gives is not known here.
            and (not ref.namespace or _fits(namespace, ref.namespace))
            and has_labels(self._selector("label"), value_at(body, "metadata", "labels"))
            and has_labels(self._selector("annotation"), value_at(body, "metadata", "annotations"))
        )

    def _selector(self, of: str) -> str | None:
        selector = _text(self.said.get(f"{of}Selector"))
        return selector[:_SELECTOR] if selector else None


@dataclass(frozen=True, slots=True)
class Patch:
    """A patch, where it is written (``text`` is ``None`` for one in the kustomization itself), and what it is for;
    without a target the object of its own kind and name."""

    value: Any
    target: Target | None
    where: Route
    text: Text | None = None

    def fits(self, body: Body, names: Names) -> bool:
        """Whether an object is one that the patch is for."""
        if self.target is not None:
            return self.target.fits(body, names)
        if not isinstance(self.value, dict):
            return False
        own, ref = ref_of(self.value), ref_of(body)
        if (own.group, own.kind) != (ref.group, ref.kind) or own.name not in names:
            return False
        return not own.namespace or not ref.namespace or own.namespace == ref.namespace

    @property
    def deletes(self) -> bool:
        """Whether the patch takes the whole object away."""
        return isinstance(self.value, dict) and self.value.get("$patch") == "delete"

    def apply(self, draft: Draft, place: Route) -> None:
        """Change a draft as far as the patch applies; ``place`` is where it is written."""
        try:
            if isinstance(self.value, dict):
                group = ref_of(draft.body).group
                merge(draft, _content(self.value), group, place)
            else:
                for index, operation in _operations(self.value):
                    operate(draft, operation, place / index)
        except PatchError:
            return  # kustomize says what is wrong with it


@dataclass(frozen=True, slots=True)
class Generator:
    """Keys that a generator adds to a ConfigMap or Secret that is there, or puts in the place of its own; ``None``
    where a file has them that cannot be read."""

    kind: str
    name: str
    replaces: bool
    data: Mapping[str, str] | None
    where: Route
    text: Text | None = None

    def fits(self, body: Body, names: Names) -> bool:
        """Whether an object is the one that the generator changes."""
        return body.get("kind") == self.kind and self.name in names

    def apply(self, draft: Draft, place: Route) -> None:
        """Change the keys of a draft. Without any its keys count as unknown."""
        field = "stringData" if self.kind == "Secret" else "data"
        if self.data is None or self.replaces:
            for key in ("data", "stringData", "binaryData"):
                if draft.has((key,)):
                    draft.remove((key,), place)
        if self.data is None:
            return
        there = value_at(draft.body, field)
        merged = {**there, **self.data} if isinstance(there, dict) else dict(self.data)
        draft.put((field,), merged, place)


Change = Patch | Generator
_LARGEST = 64 << 10
"""Characters of the largest patch that is applied: its time grows with the square of them."""
_APPLIED = ("add", "remove", "replace", "test")
"""Operations that make an object no larger than they are; copies of copies have no end."""
_SELECTOR = 1024
"""Characters of the longest selector that is read."""


class Changes:
    """What a kustomization changes, in the order in which kustomize does it."""

    def __init__(self, path: str, body: Mapping[str, Any]) -> None:
        self.path = path
        self._body = body
        self._folder = os.path.dirname(path)
        self._all: list[Change] | None = None

    @cached_property
    def text(self) -> Text:
        """The text of the kustomization, for what it says itself."""
        file, _ = read(self.path)
        return Text(file or SourceFile(self.path, "{}"))

    def all(self) -> Sequence[Change]:
        """Generators, then patches (kustomize v5.8, api/internal/target/kusttarget.go)."""
        if self._all is None:
            self._all = [*self._generators(), *self._patches()]
        return self._all

    def made(self) -> Iterator[Made]:
        """The ConfigMaps and Secrets that generators make, or change."""
        for generator in self._generators():
            yield generator.kind, generator.name

    def renamed(self, name: str) -> str:
        """The name that the kustomization gives to an object."""
        prefix, suffix = (_text(self._body.get(key)) or "" for key in ("namePrefix", "nameSuffix"))
        return f"{prefix}{name}{suffix}"

    @property
    def namespace(self) -> str:
        """The namespace that the kustomization gives to objects; empty without one."""
        return _text(self._body.get("namespace")) or ""

    def _generators(self) -> Iterator[Generator]:
        for kind, key in (("ConfigMap", "configMapGenerator"), ("Secret", "secretGenerator")):
            for index, entry in indexed(self._body, key):
                name = _text(entry.get("name")) or ""
                replaces = entry.get("behavior") == "replace"
                where = Route((0, key, index))
                yield Generator(kind, name, replaces, self._generated(entry), where)

    def _generated(self, entry: Mapping[str, Any]) -> dict[str, str] | None:
        """What a generator makes of literals and files; of files just the keys."""
        data: dict[str, str] = {}
        envs = texts_at(entry, "envs")
        if isinstance(entry.get("env"), str):
            envs = [*envs, entry["env"]]
        for name in envs:
            file = self._file(name)
            if file is None:
                return None
            data.update(_assigned(file.text.split("\n")))
        data.update(_assigned(texts_at(entry, "literals")))
        for name in texts_at(entry, "files"):
            key, _, path = name.rpartition("=")
            data[key or os.path.basename(path)] = ""
        return data

    def _patches(self) -> Iterator[Patch]:
        for key in ("patchesStrategicMerge", "patches", "patchesJson6902"):
            entries = value_at(self._body, key)
            if not isinstance(entries, list):
                continue
            for index, entry in enumerate(entries):
                where = Route((0, key, index))
                target = value_at(entry, "target")
                for_what = Target(target) if isinstance(target, dict) else None
                path, inline = value_at(entry, "path"), value_at(entry, "patch")
                if isinstance(entry, str):
                    is_inline = "\n" in entry
                    path, inline = (None, entry) if is_inline else (entry, None)
                if isinstance(path, str):
                    yield from self._in_file(path, for_what)
                elif isinstance(inline, str):
                    yield from patches_in(inline, for_what, self.path, where / "patch")

    def _in_file(self, path: str, target: Target | None) -> Iterator[Patch]:
        file = self._file(path)
        if file is None:
            return
        text = Text(file)
        for number, value in enumerate(_values(file)):
            yield Patch(value, target, Route((number,)), text)

    def _file(self, name: str) -> SourceFile | None:
        """A file of the kustomization; ``None`` for one that is not below its folder."""
        path = os.path.join(self._folder, os.path.normpath(name))
        real = real_path(path)
        if not real.startswith(real_path(self._folder) + os.sep):
            return None
        file, _ = read(path)
        return file


def patches_in(text: str, target: Target | None, name: str, where: Route) -> Iterator[Patch]:
    """The patches of a text in the kustomization itself."""
    for value in _values(SourceFile(name, text)):
        yield Patch(value, target, where)


def _values(file: SourceFile) -> Iterator[Any]:
    if len(file.text) > _LARGEST:
        return
    documents, _ = parse_manifests(file)
    for document in documents:
        yield document.root.to_python()


def _content(patch: Mapping[str, Any]) -> dict[str, Any]:
    """What a patch changes: what says which object it is for stays as it is."""
    content = {key: value for key, value in patch.items() if key not in ("apiVersion", "kind")}
    metadata = content.pop("metadata", None)
    if isinstance(metadata, dict):
        rest = {key: value for key, value in metadata.items() if key not in ("name", "namespace")}
        if rest:
            content["metadata"] = rest
    return content


def _operations(patch: object) -> Iterator[tuple[int, Operation]]:
    """The operations of a JSON patch, each with its place in the list."""
    if not isinstance(patch, list):
        return
    for index, said in enumerate(patch):
        name, path = value_at(said, "op"), value_at(said, "path")
        if name not in _APPLIED or not isinstance(path, str) or not path.startswith("/"):
            continue
        yield index, Operation(name, path, value=value_at(said, "value"))


def _assigned(lines: Sequence[str]) -> dict[str, str]:
    """Keys with values of lines ``KEY=value``."""
    data: dict[str, str] = {}
    for line in lines:
        key, sign, value = line.strip().partition("=")
        if key and not key.startswith("#"):
            data[key] = value if sign else ""
    return data


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


_ANY = r"\.[*+]"
_ANCHORS = r"\A\^?\(?(.*?)\)?\$?\Z"


def _fits(pattern: object, text: str) -> bool:
    """Whether a pattern of a target fits a text as a whole. Alternatives and ``.*`` are understood, which take no more
    time than the text is long; any other expression is a text."""
    if not isinstance(pattern, str) or not pattern:
        return True
    inner = re.match(_ANCHORS, pattern)
    assert inner is not None
    return any(_globbed(part, text) for part in inner[1].split("|"))


def _globbed(pattern: str, text: str) -> bool:
    first, *rest = [part.replace("\\", "") for part in re.split(_ANY, pattern)]
    if not rest:
        return text == first
    *between, last = rest
    if not text.startswith(first) or len(text) < len(first) + len(last):
        return False
    if not text.endswith(last):
        return False
    position, end = len(first), len(text) - len(last)
    for part in between:
        found = text.find(part, position, end)
        if found < 0:
            return False
        position = found + len(part)
    return True
