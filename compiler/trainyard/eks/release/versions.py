"""The versions that a spec sets itself, with their places."""

from __future__ import annotations

from trainyard.catalog.release import Component
from trainyard.eks.overrides.spec import OverridesSection
from trainyard.eks.settings.spec import ClusterSection
from trainyard.language.models.cluster import ClusterSpec
from trainyard.language.places import Route

_SPEC = Route(("spec",))
_EKS = _SPEC / "platform" / "eks"
OF_THE_PLATFORM = {"kubernetes": _EKS / "version", "ami": _EKS / "ami"}
"""What is no component of its own, by the key that has its version."""
_ADD_ONS = _EKS / "addons"
_CHARTS = _SPEC / "components"


def own_versions(spec: ClusterSpec) -> dict[str, str]:
    """The versions that a spec gives, by component."""
    eks = ClusterSection.of(spec).eks
    versions: dict[str, str | None] = {}
    overrides = OverridesSection.of(spec).components
    for name, component in overrides.items():
        versions[name] = component.version
    for name, addon in eks.addons.items():
        versions[name] = addon.version
    versions["kubernetes"] = eks.version
    versions["ami"] = eks.ami
    known = versions.items()
    return {name: version for name, version in known if version is not None}


def own_place(spec: ClusterSpec, component: str) -> Route:
    """Where a spec says the version that ``own_versions`` has of a component."""
    addons = ClusterSection.of(spec).eks.addons
    is_add_on = component in addons
    return _place(component, is_add_on)


def place_of_version(component: Component) -> Route:
    """Where a spec can say the version of a component."""
    return _place(component.name, component.is_eks_add_on)


def _place(component: str, is_add_on: bool) -> Route:
    if component in OF_THE_PLATFORM:
        return OF_THE_PLATFORM[component]
    names = _ADD_ONS if is_add_on else _CHARTS
    return names / component / "version"


def name_of_version(component: Component) -> str:
    """What ``explain`` calls the version of a component: its key below ``spec``."""
    return _below_spec(place_of_version(component))


def is_version(key: str) -> bool:
    """Whether a key below ``spec`` has the version of a component, or of the platform."""
    if key in map(_below_spec, OF_THE_PLATFORM.values()):
        return True
    names = (f"{_below_spec(_ADD_ONS)}.", f"{_below_spec(_CHARTS)}.")
    return key.startswith(names) and key.endswith(".version")


def _below_spec(at: Route) -> str:
    return str(Route(at[1:]))
