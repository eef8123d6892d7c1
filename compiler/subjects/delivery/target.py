"""Target: Flux sources, HelmReleases, Kustomizations (source and kustomize controllers 1.10, helm controller 1.6)."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.manifest import Body, Manifest
from compiler.plan import Plan
from compiler.source import Key, Route
from compiler.subjects.delivery.plan import (
    GitSource,
    HealthExpression,
    HelmRelease,
    HelmSource,
    Stage,
)
from compiler.targets.body import NO_PRUNE, given, head, path

SOURCE = "source.toolkit.fluxcd.io/v1"


def lower(plan: Plan) -> Iterator[Manifest]:
    """Charts in the folder of their stage; Kustomizations and git sources in ``flux/``."""
    for source in plan.of(HelmSource):
        body = helm_source(source)
        yield Manifest(
            body,
            path(source.stage, body, flat=True),
            source.at,
            _source_origins(source),
        )
    for release in plan.of(HelmRelease):
        body = helm_release(release)
        yield Manifest(
            body,
            path(release.stage, body, flat=True),
            release.at,
            _release_origins(release),
        )
    for git in plan.of(GitSource):
        body = git_source(git)
        yield Manifest(body, path("bootstrap/flux", body, flat=True), git.at)
    for stage in plan.of(Stage):
        body = kustomization(stage)
        yield Manifest(
            body,
            path("bootstrap/flux" if stage.root else "flux", body, flat=True),
            stage.at,
        )


def _source_origins(source: HelmSource) -> dict[tuple[Key, ...], Route]:
    if "version" not in source.origins:
        return {}
    return {("spec", "ref", "tag"): source.where("version")}


def _release_origins(release: HelmRelease) -> dict[tuple[Key, ...], Route]:
    origins: dict[tuple[Key, ...], Route] = {
        ("spec", "values", *path): route for path, route in release.places.items()
    }
    if "version" in release.origins:
        origins["spec", "chart", "spec", "version"] = release.where("version")
    return origins


def helm_source(source: HelmSource) -> Body:
    """OCIRepository pinned by tag, or HelmRepository."""
    if not source.oci:
        spec = {"interval": str(source.interval), "url": source.url}
        return {
            **head(SOURCE, "HelmRepository", source.name, source.namespace),
            "spec": spec,
        }
    selector = {
        "mediaType": "application/vnd.cncf.helm.chart.content.v1.tar+gzip",
        "operation": "copy",
    }
    return {
        **head(SOURCE, "OCIRepository", source.name, source.namespace),
        "spec": {
            "interval": str(source.interval),
            "url": source.url,
            "ref": {"tag": source.version},
            "layerSelector": selector,
        },
    }


# Again and again, and nothing is taken back: after its last retry a release would stall until somebody looks, and to
# uninstall or roll back under running jobs does more harm than what failed (helm-controller v1.6.3, install.strategy).
_AGAIN = {"name": "RetryOnFailure", "retryInterval": "2m"}


def helm_release(release: HelmRelease) -> Body:
    """HelmRelease. CRDs that a chart carries are created and, unlike Helm's own default, kept up to date."""
    source = {
        "kind": "OCIRepository" if release.oci else "HelmRepository",
        "name": release.source,
    }
    chart = (
        {"chartRef": source}
        if release.oci
        else {
            "chart": {
                "spec": {
                    "chart": release.chart,
                    "version": release.version,
                    "sourceRef": source,
                }
            }
        }
    )
    crds = "CreateReplace" if release.crds else "Skip"
    return {
        **head(
            "helm.toolkit.fluxcd.io/v2",
            "HelmRelease",
            release.name,
            release.namespace,
            annotations=NO_PRUNE if release.stays else None,
        ),
        "spec": given(
            interval="1h",
            timeout=str(release.timeout),
            releaseName=release.name,
            targetNamespace=release.target,
            dependsOn=[{"name": release} for release in release.depends_on],
            **chart,
            install={"crds": crds, "createNamespace": True, "strategy": _AGAIN},
            upgrade={"crds": crds, "strategy": _AGAIN},
            values=dict(release.values),
        ),
    }


def git_source(source: GitSource) -> Body:
    """GitRepository."""
    return {
        **head(SOURCE, "GitRepository", source.name, source.namespace),
        "spec": given(
            interval=str(source.interval),
            url=source.url,
            ref={"branch": source.branch},
            secretRef={"name": source.secret} if source.secret else None,
        ),
    }


def kustomization(stage: Stage) -> Body:
    """Kustomization. No ``postBuild``, so ``${…}`` in scripts stays as it is."""
    return {
        **head(
            "kustomize.toolkit.fluxcd.io/v1",
            "Kustomization",
            stage.name,
            stage.namespace,
        ),
        "spec": given(
            interval=str(stage.interval),
            retryInterval=str(stage.retry),
            timeout=str(stage.timeout),
            dependsOn=[{"name": name} for name in stage.depends_on],
            sourceRef={"kind": "GitRepository", "name": stage.source},
            path=stage.path,
            prune=stage.prune,
            wait=stage.wait,
            healthCheckExprs=[_health(check) for check in stage.health],
        ),
    }


def _health(health: HealthExpression) -> Body:
    return given(
        apiVersion=health.api_version,
        kind=health.kind,
        current=health.current,
        failed=health.failed,
        inProgress=health.in_progress,
    )
