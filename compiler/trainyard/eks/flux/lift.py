"""Lift: Flux sources, HelmReleases and Kustomizations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from trainyard.eks.flux.plan import (
    AwaitedValue,
    ChartSignature,
    GitSource,
    HealthExpression,
    HelmRelease,
    HelmSource,
    Stage,
)
from trainyard.language.units import Duration
from trainyard.lift.reader import Reader, name_of, namespace_of
from trainyard.plan.base import PlanItem

_HOUR = Duration(3600)


def oci_repository(body: Reader) -> Iterator[PlanItem]:
    """OCIRepository. A digest comes before a range, and that before a tag (source-controller v1.10, ``spec.ref``).

    A tag next to a digest says which version it is meant to be.
    """
    spec = body / "spec"
    ref = body / "spec" / "ref"
    version = ref / "semver" or ref / "tag"
    digest = (ref / "digest").word()
    yield HelmSource(
        at=body.at,
        name=name_of(body),
        namespace=namespace_of(body),
        url=(spec / "url").word(),
        oci=True,
        version=version.word(),
        digest=digest,
        signature=_signature(spec / "verify"),
        interval=(spec / "interval").duration() or _HOUR,
        # A digest alone says no version.
        unread=frozenset({"version"} if digest and not version else ()),
        origins={"version": (version or ref).at},
    )


def _signature(verify: Reader) -> ChartSignature | None:
    if not verify:
        return None
    identities = [
        ((each / "issuer").word(), (each / "subject").word())
        for each in (verify / "matchOIDCIdentity").items()
    ]
    return ChartSignature(
        provider=(verify / "provider").word() or "cosign",
        secret=(verify / "secretRef" / "name").word(),
        identities=tuple(identities),
    )


def helm_repository(body: Reader) -> Iterator[PlanItem]:
    """HelmRepository."""
    spec = body / "spec"
    yield HelmSource(
        at=body.at,
        name=name_of(body),
        namespace=namespace_of(body),
        url=(spec / "url").word(),
        oci=(spec / "type").value == "oci",
        interval=(spec / "interval").duration() or _HOUR,
    )


def helm_release(body: Reader) -> Iterator[PlanItem]:
    """HelmRelease."""
    spec = body / "spec"
    chart = spec.follow("chart", "spec")
    ref = spec / "chartRef"
    source = ref or chart / "sourceRef"
    sources = (spec / "valuesFrom").items()
    awaited = tuple(_awaited(sources))
    yield HelmRelease(
        at=body.at,
        name=name_of(body),
        namespace=namespace_of(body),
        target=(spec / "targetNamespace").word(),
        chart=(chart / "chart").word(),
        version=(chart / "version").word(),
        source=(source / "name").word(),
        oci=bool(ref),
        git=(source / "kind").value == "GitRepository",
        values=(spec / "values").mapping(),
        depends_on=_names(spec / "dependsOn"),
        crds=spec.follow("install", "crds").value != "Skip",
        timeout=(spec / "timeout").duration() or Duration(300),
        awaited=awaited,
        unread=frozenset({"values"}) if len(awaited) < len(sources) else frozenset(),
        origins={
            "values": (spec / "values").at,
            "version": (chart / "version").at,
            "chart": (chart / "chart").at,
        },
    )


def _awaited(sources: Sequence[Reader]) -> Iterator[AwaitedValue]:
    """The single values that are read from ConfigMaps. Other sources may hold any value."""
    for source in sources:
        path = (source / "targetPath").text()
        if path and (source / "kind").value == "ConfigMap":
            key = (source / "valuesKey").text() or "values.yaml"
            yield AwaitedValue((source / "name").word(), key, path)


def _names(references: Reader) -> tuple[str, ...]:
    names = ((reference / "name").word() for reference in references.items())
    return tuple(names)


def join(nodes: Sequence[PlanItem]) -> list[PlanItem]:
    """Each release with the chart and version that its OCIRepository gives."""
    sources = {
        (node.namespace, node.name): node
        for node in nodes
        if isinstance(node, HelmSource) and node.oci
    }
    joined: list[PlanItem] = []
    for node in nodes:
        if isinstance(node, HelmRelease) and node.oci:
            node = _pinned(node, sources)
        joined.append(node)
    return joined


def _pinned(release: HelmRelease, sources: Mapping[tuple[str, str], HelmSource]) -> HelmRelease:
    source = sources.get((release.namespace, release.source))
    if source is None:
        return release
    return replace(
        release,
        chart=source.url.rpartition("/")[2],
        version=source.version,
        unread=release.unread | source.unread,
        origins={**release.origins, "version": source.where("version")},
    )


def git_repository(body: Reader) -> Iterator[PlanItem]:
    """GitRepository."""
    spec = body / "spec"
    yield GitSource(
        at=body.at,
        name=name_of(body),
        namespace=namespace_of(body),
        url=(spec / "url").word(),
        branch=spec.follow("ref", "branch").word(),
        commit=spec.follow("ref", "commit").word(),
        interval=(spec / "interval").duration() or _HOUR,
        secret=spec.follow("secretRef", "name").text(),
        origins={"url": (spec / "url").at},
    )


def kustomization(body: Reader) -> Iterator[PlanItem]:
    """Kustomization."""
    spec = body / "spec"
    interval = (spec / "interval").duration() or _HOUR
    listed = (spec / "patches").items()
    patches = [(item / "patch").word() for item in listed]
    images = {
        (image / "name").word(): (image / "newTag").word() for image in (spec / "images").items()
    }
    yield Stage(
        at=body.at,
        name=name_of(body),
        namespace=namespace_of(body),
        path=(spec / "path").word(),
        source=spec.follow("sourceRef", "name").word(),
        depends_on=_names(spec / "dependsOn"),
        prune=bool((spec / "prune").flag()),
        wait=bool((spec / "wait").flag()),
        interval=interval,
        timeout=(spec / "timeout").duration() or interval,
        retry=(spec / "retryInterval").duration() or interval,
        health=tuple(map(_health, (spec / "healthCheckExprs").items())),
        values=_config_maps(spec.follow("postBuild", "substituteFrom")),
        decrypted=spec.follow("decryption", "provider").value == "sops",
        patches=tuple(patches),
        images=images,
        account=(spec / "serviceAccountName").word(),
        origins={"prune": (spec / "prune").at, "depends_on": (spec / "dependsOn").at},
    )


def _config_maps(sources: Reader) -> tuple[str, ...]:
    return tuple(
        (source / "name").word()
        for source in sources.items()
        if (source / "kind").value == "ConfigMap"
    )


def _health(body: Reader) -> HealthExpression:
    return HealthExpression(
        api_version=(body / "apiVersion").word(),
        kind=(body / "kind").word(),
        current=(body / "current").word(),
        failed=(body / "failed").word(),
        in_progress=(body / "inProgress").word(),
    )


_SOURCE = "source.toolkit.fluxcd.io"
KINDS = {
    f"{_SOURCE}/OCIRepository": oci_repository,
    f"{_SOURCE}/HelmRepository": helm_repository,
    f"{_SOURCE}/GitRepository": git_repository,
    "helm.toolkit.fluxcd.io/HelmRelease": helm_release,
    "kustomize.toolkit.fluxcd.io/Kustomization": kustomization,
}
