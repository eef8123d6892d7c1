"""Delivery: which charts are installed with which values, and in which order Flux applies what."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from compiler.catalog import Chart
from compiler.plan.delivery import (
    GitSource,
    HealthExpression,
    HelmRelease,
    HelmSource,
    Stage,
)
from compiler.plan.platform import DisruptionBudget
from compiler.plan.units import Duration
from compiler.resolve.context import SPEC, Context
from compiler.subjects import addons
from compiler.subjects.addons.addon import HELM, AddOn, Setting

FLUX = "flux-system"
PREFIX = "trainyard"


def helm(
    setting: Setting,
) -> tuple[tuple[HelmSource, ...], tuple[HelmRelease, ...]]:
    """Every chart that this compilation needs: its source and its release."""
    charts = tuple(addons.wanted(setting.context, HELM))
    return _sources(setting.context, charts), tuple(
        _release(setting, addon) for addon in charts
    )


def _release(setting: Setting, addon: AddOn) -> HelmRelease:
    context = setting.context
    chart = context.release.chart(addon.component)
    return HelmRelease(
        at=addon.at,
        name=addon.component,
        namespace=FLUX,
        target=chart.namespace,
        chart=chart.name,
        version=context.version(addon.component),
        source=_source_name(addon, chart),
        oci=chart.kind == "oci",
        values=addon.values(setting),
        depends_on=_charts(addon.after),
        crds=not addon.crds_of,
        stage=addon.stage,
        stays=addon.stays,
    )


def _charts(components: Iterable[str]) -> tuple[str, ...]:
    """Those that are charts: a HelmRelease waits for no other object."""
    known = addons.addons()
    return tuple(name for name in components if known[name].by == HELM)


def _source_name(addon: AddOn, chart: Chart) -> str:
    if chart.kind == "oci":
        return addon.component
    return chart.repository.split("//")[1].replace("/", "-").replace(".", "-")


def _sources(context: Context, charts: Iterable[AddOn]) -> tuple[HelmSource, ...]:
    sources: dict[str, HelmSource] = {}
    for addon in charts:
        chart = context.release.chart(addon.component)
        name = _source_name(addon, chart)
        oci = chart.kind == "oci"
        sources.setdefault(
            name,
            HelmSource(
                at=SPEC / "release",
                name=name,
                namespace=FLUX,
                url=chart.repository,
                oci=oci,
                version=context.version(addon.component) if oci else "",
                stage=addon.stage,
            ),
        )
    return tuple(sources.values())


def disruption_budgets(context: Context) -> tuple[DisruptionBudget, ...]:
    """The budgets that charts do not make."""
    return tuple(
        DisruptionBudget(
            at=addon.at,
            name=addon.component,
            namespace=context.release.chart(addon.component).namespace,
            pods=addon.budget,
            available=1,
        )
        for addon in addons.wanted(context, HELM)
        if addon.budget
    )


# No `failed`: a queue is inactive for as long as Kueue has not seen its flavors, which Flux applies in the same
# moment. Flux would give the stage up and try again minutes later. What stays inactive runs into the timeout.
_QUEUE_HEALTH = tuple(
    HealthExpression(
        "kueue.x-k8s.io/v1beta2",
        kind,
        current="has(status.conditions) && status.conditions.exists(c, c.type == 'Active' && c.status == 'True')",
    )
    for kind in ("ClusterQueue", "LocalQueue")
)


def folder(context: Context) -> str:
    """The cluster's folder in the repository."""
    return context.spec.flux.path or f"{context.output}/{context.name}"


def stages(context: Context, *, jobs: bool, watched: bool) -> tuple[Stage, ...]:
    """The Kustomizations, each after the one whose objects it needs."""
    at = SPEC / "flux"
    root = folder(context)

    def stage(name: str, after: str | None, **more: Any) -> Stage:
        return Stage(
            at=at,
            name=f"{PREFIX}-{name}",
            namespace=FLUX,
            path=f"./{root}/{name}",
            source=context.spec.flux.source,
            depends_on=(f"{PREFIX}-{after}",) if after else (),
            **more,
        )

    found = [
        Stage(
            at=at,
            name=PREFIX,
            namespace=FLUX,
            path=f"./{root}/flux",
            source=context.spec.flux.source,
            wait=False,
            root=True,
        ),
        stage("crds", None, prune=False),
        stage("controllers", "crds", timeout=Duration.minutes(15)),
        stage("platform", "controllers"),
        stage("queues", "platform", health=_QUEUE_HEALTH),
        # A DaemonSet is healthy when all its pods are: one node that is not ready would hold up what comes after it.
        *([stage("health", "platform")] if watched else []),
    ]
    if jobs:
        # A job that runs for a week is healthy all the while: nothing waits for it.
        found.append(stage("jobs", "queues", wait=False))
    return tuple(found)


def git_sources(context: Context) -> tuple[GitSource, ...]:
    """The repository, where the spec names its URL; else the one that Flux was bootstrapped with."""
    flux = context.spec.flux
    if flux.url is None:
        return ()
    return (
        GitSource(
            at=SPEC / "flux",
            name=flux.source,
            namespace=FLUX,
            url=flux.url,
            branch=flux.branch,
            secret=git_secret(context),
        ),
    )


def git_secret(context: Context) -> str | None:
    """The Secret with which Flux reads the repository that the spec names; a public one needs none."""
    url, given = context.spec.flux.url, context.spec.flux.secret
    return given or (FLUX if url is not None and url.startswith("ssh://") else None)


def flux_folder(context: Context) -> str:
    """Where `flux bootstrap` may write its own manifests: a folder that neither holds nor lies in the cluster's, for
    Flux applies whatever it finds below, and a folder that Trainyard did not write is never touched."""
    ours = folder(context)
    choices = (f"{top}/{context.name}" for top in ("clusters", "flux", "bootstrap"))
    return next(
        each
        for each in choices
        if not f"{ours}/".startswith(f"{each}/") and not each.startswith(f"{ours}/")
    )
