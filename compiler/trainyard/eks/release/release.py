"""The release: which upstream versions a spec compiles for."""

from __future__ import annotations

from collections.abc import Container, Iterator

from trainyard.catalog import Release
from trainyard.catalog.release import Component, version_key
from trainyard.eks.overrides.spec import OverridesSection
from trainyard.eks.release.versions import (
    OF_THE_PLATFORM,
    name_of_version,
    own_place,
    own_versions,
    place_of_version,
)
from trainyard.eks.settings.spec import ClusterSection
from trainyard.language.diagnostics import Diagnostic
from trainyard.language.diagnostics.diagnostic import error, listed
from trainyard.language.models.cluster import ClusterSpec
from trainyard.language.models.flow import flow
from trainyard.language.places import Route
from trainyard.plan.context import SPEC, Context, near_help


def check_release(spec: ClusterSpec, release: Release) -> list[Diagnostic]:
    """What is wrong with the versions that a spec gives instead of its release's."""
    faults = list(_components(spec, release))
    faults += _unsupported(spec, release)
    faults += _apart(spec, release)
    faults += _too_old_for_kubernetes(spec, release)
    return faults


def _components(spec: ClusterSpec, release: Release) -> Iterator[Diagnostic]:
    """Components that the release does not have, and versions that cannot be set by themselves."""
    overrides = OverridesSection.of(spec).components
    for name, component in overrides.items():
        at = SPEC / "components" / name
        if name in OF_THE_PLATFORM:
            below_spec = OF_THE_PLATFORM[name][1:]
            key = str(Route(below_spec))
            fact = f"`{name}` is no component that is installed in the cluster"
            yield error("RES080", fact, at, key=True, help=f"write it as `{key}`")
        elif name not in release.components:
            fact = f"release {release.name} has no component `{name}`"
            help = near_help(name, release.components, "component")
            yield error("RES080", fact, at, key=True, help=help)
        elif component.version is not None:
            help = _not_by_itself(release.components[name])
            if help:
                fact = f"the version of `{name}` cannot be set by itself"
                yield error("RES081", fact, at / "version", help=help)


def _not_by_itself(component: Component) -> str:
    """What to write instead of a component's own version, where it has none that can be chosen."""
    if component.is_eks_add_on:
        return f"write it as `{name_of_version(component)}`"
    if component.version_of:
        return f"write the version of `{component.version_of}`, which it follows"
    if component.chart and component.version:
        return ""
    return "remove it, or take another `release`"


def _unsupported(spec: ClusterSpec, release: Release) -> Iterator[Diagnostic]:
    """Versions that are not rendered for, or have another form than the component's."""
    overrides = OverridesSection.of(spec).components
    for name, version in own_versions(spec).items():
        component = release.components.get(name)
        if component is None:
            continue
        if name in overrides and _not_by_itself(component):
            continue
        help = _supported(component, version)
        if help:
            help = f"{help}, or remove it to use the release's"
            fact = f"{name} `{version}` is not supported by release {release.name}"
            minor = release.minors.get(version)
            if name == "kubernetes" and minor is not None and minor.left_out:
                fact = f"{fact}: {minor.left_out}"
            yield error("RES002", fact, own_place(spec, name), help=help)


def _supported(component: Component, version: str) -> str:
    """What to write instead of a version that is not supported; empty where it is."""
    if component.supported and not component.supports(version):
        # Any patch is supported, and of Kubernetes the minor version is the whole one.
        patch = "" if component.name == "kubernetes" else ".x"
        versions = [flow(f"{minor}{patch}") for minor in component.supported]
        return f"write one of {listed(versions)}"
    tested = component.version or component.build
    if tested and _form(version) != _form(tested):
        return f"write it like `{flow(tested)}`"
    return ""


def _form(version: str) -> tuple[bool, bool]:
    """What the versions of a component have in common: a ``v`` before, and EKS's build behind."""
    return version.startswith("v"), "-eksbuild." in version


def _apart(spec: ClusterSpec, release: Release) -> Iterator[Diagnostic]:
    """Versions that do not work together."""
    own = own_versions(spec)
    chosen = release.chosen(own)
    for pair in release.pairs:
        if pair.met(chosen):
            continue
        name, other = pair.component, pair.needed_by
        if name in own:
            given = name
        else:
            given = other
        dependency = f"{name} `{chosen[name]}`"
        dependent = f"{other} `{chosen[other]}`"
        needed = f"{name} `{pair.version}` with {other} {pair.minor}"
        yield error(
            "RES034",
            f"{dependency} does not work with {dependent}",
            own_place(spec, given),
            help=f"take {needed}, and with no other; left out, {name} follows",
        )


def _too_old_for_kubernetes(spec: ClusterSpec, release: Release) -> Iterator[Diagnostic]:
    """A Karpenter that does not take the cluster's minor version."""
    if ClusterSection.of(spec).auto_mode is not None:
        return
    chosen = release.chosen(own_versions(spec))
    minor = release.minors.get(chosen["kubernetes"])
    if minor is None or minor.left_out:
        return
    karpenter = chosen["karpenter"]
    if version_key(karpenter) < version_key(minor.karpenter):
        yield error(
            "RES235",
            f"karpenter `{karpenter}` does not support Kubernetes {minor.version}, which needs "
            f"{minor.karpenter} or later",
            own_place(spec, "karpenter"),
            help=f"write `{minor.karpenter}.0` or later, or remove it to use the release's",
            notes=(f"source: {_COMPATIBILITY}",),
        )


_COMPATIBILITY = "karpenter-provider-aws v1.14.1 website/content/en/docs/upgrading/compatibility.md"


def settle_versions(context: Context, used: Container[str]) -> None:
    """Record the version of each component that the cluster uses for ``explain``, with the reason for it."""
    own = own_versions(context.spec)
    versions = context.versions.items()
    chosen = {name: version for name, version in versions if name in used}
    pairs = [pair for pair in context.release.pairs if pair.wanted(chosen)]
    needed = {pair.component: pair for pair in pairs}
    for name, version in chosen.items():
        reason = f"tested together in release {context.release.name}"
        component = context.release.components[name]
        source = component.source
        if name in needed:
            pair = needed[name]
            reason = pair.reason
            source = pair.source
        context.settle(
            "cluster",
            name_of_version(component),
            own.get(name),
            version,
            reason,
            source,
            at=place_of_version(component),
        )
