"""Finds the extensions, and the features of the core and of platforms: folders, recognised by the modules in them.

``core/<name>`` is what people say, and what it means on any platform; ``eks/<name>`` and
``extensions/<platform>/<name>`` are what a platform makes of it. A feature has what it needs of these modules: ``spec``
(how people write it), ``plan`` (nodes: what will exist), ``resolve`` (spec and facts to nodes), ``lower`` (nodes to
what is written) and ``lift`` (manifests back to nodes). The last two share nothing, so that what is written is judged
by what it says.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from trainyard.language.dataclass import dataclass

__all__ = [
    "OF_EXTENSIONS",
    "Platform",
    "extension_modules",
    "extensions",
    "members",
    "members_of_extensions",
    "members_of_platforms",
    "needs",
    "packages_of_platforms",
    "parts",
    "stack_writer",
]

OF_EXTENSIONS = "extensions"
"""Stands in the features of a platform for those that extensions add."""
_ROOT = Path(__file__).parents[1]
_PACKAGE = _ROOT.name


@dataclass(frozen=True)
class Platform:
    """A platform: its key in ``spec.platform``, and its features, in the order in which they report.

    ``listed``: as the platform lists them, with ``OF_EXTENSIONS`` where those of extensions come. A feature is named by
    its folder below ``trainyard``: ``core.pools``. EKS is in a folder of its own, any other platform in one of
    ``extensions`` that has its name. The spec of the platform has the sections of
    these features, and the plan what they resolve. ``instead``: what to write for a key of another platform, by key of
    ``spec``, and for one below it that the platform has no use for, by its path: ``jobs.topology``. ``stands_on``: the
    platform that it extends, of whose features it keeps some; a spec may have the key of both. ``without``: components
    that the lower one installs, and this one does not; ``brings``: add-ons of EKS that it installs besides, with their
    builds. ``asked_by_hand``: how people see their jobs where there is no Kubernetes API. ``by_key``: what it is
    instead where its key has one of these keys. ``answers``: the module with what the core asks of a platform,
    ``answers`` in its folder unless it is said, imported when the core first asks:

    - ``node_share``: what jobs can get of a node
    - ``launcher``: what launches the nodes of a pool of the spec
    - ``kinds``: what runs a job, by name, and what that decides of it; the first runs jobs that name none
    - ``admission``: how jobs ask to be admitted; only of platforms on EKS
    - ``node_watch``: what watches nodes and replaces them, as alerts say it; only of platforms on EKS
    - ``addon_values``: what its nodes need of an add-on of EKS; only those of platforms on EKS
    - ``own_versions`` and ``check_release``: versions that a spec gives, and what is wrong with them
    - ``nodes_export``: the export of CloudFormation that has the security group of all nodes
    - ``settle``: what is recorded once all features have resolved
    - ``NOT_GIVEN``: nodes of the core that rules read and it has none of, by name, and why it need not
    """

    name: str
    listed: tuple[str, ...]
    instead: Mapping[str, str] = field(default_factory=dict, compare=False)
    answers: str = "answers"
    stands_on: str = ""
    without: frozenset[str] = frozenset()
    brings: Mapping[str, str] = field(default_factory=dict, compare=False)
    asked_by_hand: str = ""
    by_key: Mapping[str, Platform] = field(default_factory=dict, compare=False)

    @property
    def features(self) -> tuple[str, ...]:
        """All of its features, with those of extensions."""
        return _with_extensions(self.listed, self._lower())

    def _lower(self) -> tuple[str, ...]:
        """Its name and that of what it stands on, in small letters."""
        return tuple(name.lower() for name in (self.name, self.stands_on) if name)

    def instead_of(self, path: str) -> str | None:
        """What to write instead of a key by its path below ``spec``, or of one above it; ``None`` where it takes
        both."""
        words = path.split(".")
        paths = (".".join(words[:count]) for count in range(1, len(words) + 1))
        return next((self.instead[above] for above in paths if above in self.instead), None)

    def asked(self) -> ModuleType:
        """The module that answers the core."""
        return import_module(self.answers) if "." in self.answers else self._module(self.answers)

    def answering(self, extension: str, name: str) -> ModuleType:
        """The module of a name with which it answers an extension (its ``ASKS``): in its own folder, or, of EKS, in
        one of that extension."""
        folder = self.package
        if not folder.startswith("extensions."):
            folder = f"extensions.{extension}.{folder}"
        return import_module(f"{_PACKAGE}.{folder}.{name}")

    def added(self, name: str) -> Iterator[ModuleType]:
        """The modules of a name in the extensions that add features to it."""
        for extension in _adding_to(self._lower()):
            if _has_module(f"extensions.{extension}.{name}", "__init__"):
                yield import_module(f"{_PACKAGE}.extensions.{extension}.{name}")

    def held(self) -> ModuleType | None:
        """The module ``history`` in its folder, if it has one, with ``held``: what an edit means for what is committed
        of it, beside objects of Kubernetes."""
        if not _has_module(self.package, "history"):
            return None
        return self._module("history")

    def _module(self, name: str) -> ModuleType:
        return import_module(f"{_PACKAGE}.{self.package}.{name}")

    @property
    def package(self) -> str:
        """Its package below ``trainyard``."""
        name = self.name.lower()
        return name if name == "eks" else f"extensions.{name}"


@cache
def extensions() -> Mapping[str, ModuleType]:
    """The package of each extension that is there, and whose ``NEEDS``, the names of others, are there too."""
    folders = sorted(_names_in("extensions"))
    names = [name for name in folders if _has_module(f"extensions.{name}", "__init__")]
    found = {name: import_module(f"{_PACKAGE}.extensions.{name}") for name in names}
    while lacking := [name for name, each in found.items() if not needs(each) <= found.keys()]:
        for name in lacking:
            del found[name]
    return found


def needs(extension: ModuleType) -> set[str]:
    """The names of the extensions that one imports, as it says itself."""
    return set(getattr(extension, "NEEDS", ()))


def extension_modules(folder: str) -> dict[str, str]:
    """The modules in a folder that several extensions have, like ``commands``: their paths to import, by name."""
    found = {}
    for extension in extensions():
        for file in sorted((_ROOT / "extensions" / extension / folder).glob("[!_]*.py")):
            found[file.stem] = f"{_PACKAGE}.extensions.{extension}.{folder}.{file.stem}"
    return found


def _adding_to(platforms: tuple[str, ...]) -> tuple[str, ...]:
    """The extensions that add features to one of some platforms."""
    return tuple(
        name for name, extension in extensions().items() if _features_for(extension, platforms)
    )


def _features_for(extension: ModuleType, platforms: tuple[str, ...]) -> tuple[str, ...]:
    """The features that an extension adds to some platforms."""
    features: Mapping[str, tuple[str, ...]] = getattr(extension, "FEATURES", {})
    return tuple(feature for name in platforms for feature in features.get(name, ()))


@cache
def _with_extensions(listed: tuple[str, ...], platforms: tuple[str, ...]) -> tuple[str, ...]:
    features: list[str] = []
    for feature in listed:
        if feature != OF_EXTENSIONS:
            features.append(feature)
            continue
        for name in _adding_to(platforms):
            features += _features_for(extensions()[name], platforms)
    return tuple(features)


@cache
def members_of_extensions(folder: str, name: str) -> tuple[Any, ...]:
    """The value of a name in each module of a folder that several extensions have, like ``addons``."""
    modules = [import_module(path) for path in extension_modules(folder).values()]
    return tuple(getattr(module, name) for module in modules if hasattr(module, name))


def stack_writer(tool: str) -> ModuleType:
    """The module that writes stacks for a tool other than CloudFormation. Raises ``KeyError`` where none does."""
    return import_module(extension_modules("stacks")[tool])


def members(package: str, folders: Iterable[str], name: str) -> list[Any]:
    """The value of a name in each module of a package that has it, by the names of their files."""
    files = {file.stem for folder in folders for file in Path(folder).glob("*.py")}
    files.discard("__init__")
    modules = [import_module(f"{package}.{file}") for file in sorted(files)]
    return [getattr(module, name) for module in modules if hasattr(module, name)]


def members_of_platforms(folder: str, name: str) -> list[Any]:
    """The value of a name in each module of a folder that several platforms have, like ``jobs/kinds``."""
    found: list[Any] = []
    for platform in _platforms():
        path = os.path.join(_folder_of(platform), folder)
        if os.path.isdir(path):
            package = ".".join((_PACKAGE, platform, *folder.split("/")))
            found += members(package, [path], name)
    return found


@cache
def packages_of_platforms(folder: str) -> tuple[ModuleType, ...]:
    """The packages of a name that several platforms have, like ``formats``."""
    having = [name for name in _platforms() if _has_module(f"{name}.{folder}", "__init__")]
    return tuple(import_module(f"{_PACKAGE}.{name}.{folder}") for name in having)


@cache
def parts(name: str, features: tuple[str, ...] | None = None) -> tuple[ModuleType, ...]:
    """The modules of this name (``lower``, ``lift``…) of the features that have one: of all, or of some in order."""
    if features is None:
        features = _all_features()
    having = [feature for feature in features if _has_module(feature, name)]
    return tuple(import_module(f"{_PACKAGE}.{feature}.{name}") for feature in having)


@cache
def _all_features() -> tuple[str, ...]:
    """The folders of the core and of all platforms, by name; those that are no features have no such modules."""
    places = ["core", *_platforms()]
    return tuple(sorted(f"{place}.{name}" for place in places for name in _names_in(place)))


@cache
def _platforms() -> tuple[str, ...]:
    """The packages in which a platform may be."""
    return ("eks", *(f"extensions.{name}" for name in extensions()))


def _names_in(place: str) -> list[str]:
    with os.scandir(_folder_of(place)) as entries:
        return [entry.name for entry in entries if entry.is_dir()]


def _has_module(feature: str, name: str) -> bool:
    return os.path.isfile(os.path.join(_folder_of(feature), f"{name}.py"))


def _folder_of(feature: str) -> str:
    return os.path.join(_ROOT, feature.replace(".", os.sep))
