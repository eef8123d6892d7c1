"""Versions that a spec gives, and where it says them."""

from __future__ import annotations

from compiler.source import Route
from compiler.spec.cluster import ClusterSpec
from compiler.subjects.cluster.spec import ClusterSection
from compiler.subjects.overrides.spec import OverridesSection

_SPEC = Route(("spec",))
_EKS = _SPEC / "platform" / "eks"
OF_THE_PLATFORM = {"kubernetes": _EKS / "version", "ami": _EKS / "ami"}
"""What is no component of its own, by the key that has its version."""


def own_versions(spec: ClusterSpec) -> dict[str, str]:
    """The versions that a spec gives, by component."""
    components = OverridesSection.of(spec).components
    eks = ClusterSection.of(spec).eks
    given = {name: component.version for name, component in components.items()}
    given.update(kubernetes=eks.version, ami=eks.ami)
    return {name: version for name, version in given.items() if version is not None}


def place_of_version(component: str) -> Route:
    """Where a spec says the version of a component."""
    if component in OF_THE_PLATFORM:
        return OF_THE_PLATFORM[component]
    return _SPEC / "components" / component / "version"


def name_of_version(component: str) -> str:
    """What ``explain`` calls the version of a component: its key below ``spec``."""
    return str(Route(place_of_version(component)[1:]))
