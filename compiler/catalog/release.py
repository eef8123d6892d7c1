"""Releases: sets of upstream versions that belong together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from compiler.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Chart:
    """A Helm chart: ``kind`` is ``oci`` or ``http``; ``namespace`` is where it is usually installed."""

    name: str
    repository: str
    kind: str
    version: str
    namespace: str
    source: str


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
        return versions.get(self.needed_by, "").startswith(f"{self.minor}.")

    def met(self, versions: Mapping[str, str]) -> bool:
        """Whether the two of them work together, or neither is of this pair."""
        minor = self.version.rpartition(".")[0]
        return self.wanted(versions) == versions.get(self.component, "").startswith(
            f"{minor}."
        )


@dataclass(frozen=True, slots=True)
class Release:
    """One set of versions.

    ``versions`` are by component (``karpenter``, ``kueue``, ``trainer``…), ``charts`` by the same names.
    ``addons`` are EKS add-on builds; None means that no build is sourced for this Kubernetes version and
    that EKS's default is to be used. ``images`` are whole references. ``supported`` lists, by component,
    the versions (or minors) that the compiler renders for; ``features`` maps ``component.feature`` to the
    first version that has it. ``ami_releases`` maps an AMI alias and a Kubernetes version to the release version that
    EKS has for the same image. ``pairs`` are versions that only work together. ``support_ends`` are dates (ISO) of
    Kubernetes' standard and extended support on EKS. ``notes`` give the reason for what is pinned or left open;
    ``sources`` where each fact comes from.
    """

    name: str
    date: str
    kubernetes: str
    versions: Mapping[str, str]
    charts: Mapping[str, Chart]
    addons: Mapping[str, str | None]
    images: Mapping[str, str]
    ami_releases: Mapping[str, Mapping[str, str]]
    supported: Mapping[str, tuple[str, ...]]
    pairs: tuple[Pair, ...]
    features: Mapping[str, str]
    support_ends: Mapping[str, str]
    notes: Mapping[str, str]
    sources: Mapping[str, str]

    def chosen(self, own: Mapping[str, str]) -> dict[str, str]:
        """The version of every component, Kubernetes among them: one's ``own``, what that needs, or the release's."""
        found = {"kubernetes": self.kubernetes, **self.versions, **own}
        found.update(
            (pair.component, pair.version)
            for pair in self.pairs
            if pair.component not in own and pair.wanted(found)
        )
        return found

    def supports(self, component: str, version: str) -> bool:
        """Whether the compiler renders for this version: equal to, or a patch of, one that is listed."""
        number = version.removeprefix("v")
        return any(
            number == known or number.startswith(f"{known}.")
            for known in self.supported.get(component, ())
        )

    def has(self, feature: str, version: str | None = None) -> bool:
        """Whether a component (at this release's version if none is given) has a feature of ``features``.

        An unknown feature, or an add-on without a pinned build, has not.
        """
        component = feature.partition(".")[0]
        version = version or self.versions.get(component) or self.addons.get(component)
        first = self.features.get(feature)
        return (
            first is not None
            and version is not None
            and version_key(version) >= version_key(first)
        )


def version_key(version: str) -> tuple[int, ...]:
    """A version for comparison: its leading numbers, without ``v`` and without a pre-release."""
    numbers: list[int] = []
    for part in version.removeprefix("v").split("-")[0].split("+")[0].split("."):
        if not part.isdigit():
            break
        numbers.append(int(part))
    return tuple(numbers)


def release_from_data(name: str, data: Mapping[str, Any]) -> Release:
    """A release from its entry in ``data/releases.json``."""
    versions = data["versions"]
    charts = {
        component: Chart(
            chart["name"],
            chart["repository"],
            chart["kind"],
            chart.get("version") or versions[component],
            chart["namespace"],
            chart["source"],
        )
        for component, chart in data["charts"].items()
    }
    return Release(
        name,
        data["date"],
        data["kubernetes"],
        versions,
        charts,
        data["addons"],
        data["images"],
        data["ami_releases"],
        {component: tuple(known) for component, known in data["supported"].items()},
        tuple(Pair(**each) for each in data["pairs"]),
        data["features"],
        data["support_ends"],
        data["notes"],
        data["sources"],
    )
