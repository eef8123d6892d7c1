"""Releases: sets of upstream versions that belong together, one file a component (``data/releases/<release>/``)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from trainyard.catalog.minors import Minor, laid_over, minors_from
from trainyard.catalog.upgrades import Upgrade, VersionStep
from trainyard.catalog.versions import version_key
from trainyard.language.dataclass import dataclass

__all__ = ["Chart", "Component", "GitFolder", "Pair", "Release", "read_release", "version_key"]

_RELEASE = "release.json"
_MINORS = "kubernetes"
_APPENDED = ("upgrades",)


@dataclass(frozen=True, slots=True)
class Chart:
    """A Helm chart: ``kind`` is ``oci`` or ``http``; ``namespace`` is where it is usually installed."""

    name: str
    repository: str
    kind: str
    namespace: str
    source: str


@dataclass(frozen=True, slots=True)
class GitFolder:
    """A folder of manifests in upstream's repository: the ``commit`` of a version, which is on ``branch``.

    ``images``: the tags of images for which the manifests at that commit name another one.
    """

    url: str
    branch: str
    commit: str
    path: str
    namespace: str
    source: str
    images: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Pair:
    """``component`` works with this minor of ``needed_by`` at this version and its patches, and with no other."""

    component: str
    version: str
    needed_by: str
    minor: str
    reason: str
    source: str

    def wanted(self, versions: Mapping[str, str]) -> bool:
        """Whether the versions have the minor that needs it."""
        version = versions.get(self.needed_by, "")
        return version.startswith(f"{self.minor}.")

    def met(self, versions: Mapping[str, str]) -> bool:
        """Whether the two of them work together, or neither is of this pair."""
        minor = self.version.rpartition(".")[0]
        version = versions.get(self.component, "")
        is_of_minor = version.startswith(f"{minor}.")
        return self.wanted(versions) == is_of_minor


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """What a release says of one component: its file, laid over those of the base.

    ``version`` is the one that was tested; a component that is released with another has none, and ``version_of``
    names that. ``build`` is the build of an EKS add-on; None means that none is sourced for this Kubernetes version
    and that EKS's default is to be used. ``image`` is a whole reference. ``supported`` lists the versions (or minors)
    that the compiler renders for; ``features`` maps a feature to the first version that has it. ``crds`` maps
    ``group/Kind`` to the versions that the API server then serves. ``builds`` maps a Kubernetes version to the build of
    an EKS add-on. ``images`` maps, for the AMI alone, an alias and a Kubernetes version to the release version that
    EKS has for the same image. ``note`` gives the reason for what is pinned or left open; ``source`` is where the
    version was read, and ``checked`` when (ISO date).
    """

    name: str
    source: str
    checked: str
    version: str | None = None
    version_of: str | None = None
    build: str | None = None
    chart: Chart | None = None
    git: GitFolder | None = None
    image: str | None = None
    supported: tuple[str, ...] = ()
    features: Mapping[str, str] = field(default_factory=dict)
    crds: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    pairs: tuple[Pair, ...] = ()
    builds: Mapping[str, str] = field(default_factory=dict)
    images: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    builds_source: str = ""
    note: str = ""
    restarts: str = ""
    upgrades: tuple[Upgrade, ...] = ()

    @property
    def is_eks_add_on(self) -> bool:
        """Whether EKS installs it: there is nothing else to install it from."""
        sources = (self.version, self.version_of, self.chart, self.image)
        return not any(sources)

    def supports(self, version: str) -> bool:
        """Whether the compiler renders for this version: equal to, or a patch of, one that is listed."""
        number = version.removeprefix("v") + "."
        supported = [f"{known}." for known in self.supported]
        return number.startswith(tuple(supported))


@dataclass(frozen=True, slots=True)
class Release:
    """One set of versions: its name, its date (ISO), its components by name, and the minor versions of Kubernetes."""

    name: str
    date: str
    components: Mapping[str, Component]
    minors: Mapping[str, Minor]

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """Versions that only work together."""
        return tuple(pair for component in self.components.values() for pair in component.pairs)

    def version(self, component: str) -> str:
        """The version of a component that has one of its own."""
        version = self.components[component].version
        assert version is not None, component
        return version

    def chart(self, component: str) -> Chart:
        """The chart of a component that has one."""
        chart = self.components[component].chart
        assert chart is not None, component
        return chart

    def git(self, component: str) -> GitFolder:
        """The folder of manifests of a component that has one."""
        folder = self.components[component].git
        assert folder is not None, component
        return folder

    def image(self, component: str) -> str:
        """The image of a component that has one."""
        image = self.components[component].image
        assert image is not None, component
        return image

    def chosen(self, own: Mapping[str, str]) -> dict[str, str]:
        """The version of every component: one's ``own``, what that needs, or the release's."""
        versions = {
            name: component.version
            for name, component in self.components.items()
            if component.version is not None
        }
        versions.update(own)
        versions.update(
            (pair.component, pair.version)
            for pair in self.pairs
            if pair.component not in own and pair.wanted(versions)
        )
        return versions

    def supports(self, component: str, version: str) -> bool:
        """Whether the compiler renders for this version of a component."""
        known = self.components.get(component)
        return known is not None and known.supports(version)

    def has(self, feature: str, version: str | None = None) -> bool:
        """Whether a component (at this release's version if none is given) has a feature, as ``component.feature``.

        An unknown feature, or an add-on without a pinned build, has not.
        """
        name, _, feature = feature.partition(".")
        component = self.components.get(name)
        if component is None:
            return False
        version = version or component.version or component.build
        first = component.features.get(feature)
        if first is None or version is None:
            return False
        return version_key(version) >= version_key(first)

    def step(self, component: str, before: str, after: str, *, runs: bool) -> VersionStep:
        """What it asks for to go from one version of a component to another, while ``runs`` go on or none."""
        known = self.components[component]
        covering = tuple(upgrade for upgrade in known.upgrades if upgrade.covers(before, after))
        return VersionStep(component, before, after, covering, known.restarts, runs)


def read_release(folder: Path, name: str) -> Release:
    """A release from its folder, laid over its base: a folder holds what changed.

    Maps are merged key by key, anything else is replaced, and ``upgrades`` are added to those of the base.
    """
    head, files, of_minors = _read(folder, name)
    minors = minors_from(of_minors)
    files = laid_over(files, minors)
    components = {component: _component(component, files[component]) for component in sorted(files)}
    return Release(name, head["date"], components, minors)


def release_names(folder: Path) -> Iterable[str]:
    """The releases that there are."""
    folders = folder.iterdir()
    return (path.name for path in folders if (path / _RELEASE).is_file())


_Files = dict[str, dict[str, Any]]


def _read(folder: Path, name: str) -> tuple[dict[str, Any], _Files, _Files]:
    """The release's own file, those of its components over those of its base, and those of Kubernetes' minors."""
    own = _files(folder / name)
    head = own.pop("release")
    base = head.get("base")
    files: _Files = {}
    minors: _Files = {}
    if base is not None:
        _, files, minors = _read(folder, base)
    _lay_over(files, own)
    _lay_over(minors, _files(folder / name / _MINORS))
    return head, files, minors


def _files(folder: Path) -> _Files:
    return {path.stem: json.loads(path.read_bytes()) for path in folder.glob("*.json")}


def _lay_over(files: _Files, own: _Files) -> None:
    for name, facts in own.items():
        known = files.get(name, {})
        files[name] = _laid_over(known, facts)


def _laid_over(base: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    laid = dict(base)
    for key, value in own.items():
        below = laid.get(key)
        if isinstance(value, dict) and isinstance(below, dict):
            laid[key] = _laid_over(below, value)
        elif key in _APPENDED:
            laid[key] = [*(below or ()), *value]
        else:
            laid[key] = value
    return laid


def _component(name: str, facts: Mapping[str, Any]) -> Component:
    if facts.get("chart"):
        chart = Chart(**facts["chart"])
    else:
        chart = None
    if facts.get("git"):
        git = GitFolder(**facts["git"])
    else:
        git = None
    served = facts.get("crds", {}).items()
    crds = {kind: tuple(versions) for kind, versions in served}
    needs = facts.get("pairs", ())
    pairs = [Pair(component=name, **need) for need in needs]
    return Component(
        name=name,
        source=facts["source"],
        checked=facts["checked"],
        version=facts.get("version"),
        version_of=facts.get("version_of"),
        build=facts.get("build"),
        chart=chart,
        git=git,
        image=facts.get("image"),
        supported=tuple(facts.get("supported", ())),
        features=facts.get("features", {}),
        crds=crds,
        pairs=tuple(pairs),
        builds=facts.get("builds", {}),
        images=facts.get("images", {}),
        builds_source=facts.get("builds_source", ""),
        note=facts.get("note", ""),
        restarts=facts.get("restarts", ""),
        upgrades=tuple(map(Upgrade.of, facts.get("upgrades", ()))),
    )
