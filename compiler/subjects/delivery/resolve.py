"""Delivery: which charts are installed with which values, and in which order Flux applies what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from compiler.catalog import Chart
from compiler.plan import PlanNode
from compiler.plan.units import Duration
from compiler.resolve.context import SPEC, Context
from compiler.resolve.versions import own_place, own_versions
from compiler.source import Route
from compiler.subjects import addons
from compiler.subjects.addons.addon import HELM, AddOn, Setting
from compiler.subjects.delivery.plan import GitSource, HelmRelease, HelmSource
from compiler.subjects.delivery.spec import DeliverySection
from compiler.subjects.delivery.stages import FLUX, folder, root_stage, stage
from compiler.subjects.namespaces.plan import DisruptionBudget
from compiler.subjects.overrides.values import chart_values
from compiler.subjects.queues.resolve import queue_manager


def resolve(context: Context) -> Iterator[PlanNode]:
    """Charts with their sources, the repository, and the stages that carry the charts."""
    sources, releases = helm(context.once(setting))
    yield from sources
    yield from releases
    yield from git_sources(context)
    yield from disruption_budgets(context)
    if DeliverySection.of(context.spec).flux.url is None:
        source = DeliverySection.of(context.spec).flux.source
        context.external.add(
            ("source.toolkit.fluxcd.io/v1", "GitRepository", FLUX, source)
        )
    yield root_stage(context)
    yield stage(context, "crds", None, prune=False)
    yield stage(context, "controllers", "crds", timeout=Duration.minutes(15))


def setting(context: Context) -> Setting:
    """What the values of add-ons are made from."""
    return Setting(context, context.once(queue_manager))


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
    values, places = chart_values(context, addon.component, addon.values(setting))
    return HelmRelease(
        at=addon.at,
        name=addon.component,
        namespace=FLUX,
        target=chart.namespace,
        chart=chart.name,
        version=context.version(addon.component),
        source=_source_name(addon, chart),
        oci=chart.kind == "oci",
        values=values,
        places=places,
        origins=_origins(context, addon.component),
        depends_on=_charts(addon.after),
        crds=not addon.crds_of,
        stage=addon.stage,
        stays=addon.stays,
    )


def _origins(context: Context, component: str) -> dict[str, Route]:
    """Where the version comes from, if the spec says it."""
    follows = context.release.components[component].version_of or component
    if follows in own_versions(context.spec):
        return {"version": own_place(context.spec, follows)}
    return {}


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
                origins=_origins(context, addon.component) if oci else {},
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


def git_sources(context: Context) -> tuple[GitSource, ...]:
    """The repository, where the spec names its URL; else the one that Flux was bootstrapped with."""
    flux = DeliverySection.of(context.spec).flux
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
    url, given = (
        DeliverySection.of(context.spec).flux.url,
        DeliverySection.of(context.spec).flux.secret,
    )
    return given or (FLUX if url is not None and url.startswith("ssh://") else None)


def flux_folder(context: Context) -> str:
    """Where `flux bootstrap` may write its own manifests: a folder that neither holds nor lies in the cluster's, for
    Flux applies whatever it finds below, and a folder that Trainyard did not write is never touched."""
    ours = folder(context)
    choices = (f"{top}/{context.name}" for top in ("clusters", "flux", "bootstrap"))
    return next(
        folder
        for folder in choices
        if not f"{ours}/".startswith(f"{folder}/") and not folder.startswith(f"{ours}/")
    )
