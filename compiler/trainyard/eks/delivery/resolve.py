"""Resolves delivery: which charts are installed with which values, and the order in which Flux applies stages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from trainyard.catalog import Chart
from trainyard.core.delivery.folder import folder
from trainyard.core.delivery.spec import DeliverySection
from trainyard.eks import addons
from trainyard.eks.addons.addon import CRDS, HELM, KUSTOMIZE, AddOn, Setting
from trainyard.eks.delivery.plan import DisruptionBudget
from trainyard.eks.flux.accounts import deliverer, may_make
from trainyard.eks.flux.plan import ChartSignature, GitSource, HelmRelease, HelmSource, Stage
from trainyard.eks.flux.stages import FLUX, root_stage, stage
from trainyard.eks.kueue.resolve import queue_manager
from trainyard.eks.overrides.spec import OverridesSection
from trainyard.eks.overrides.values import chart_values
from trainyard.eks.release.versions import own_place, own_versions
from trainyard.language.places import Route
from trainyard.language.units import Duration
from trainyard.output.artifact import Places
from trainyard.plan import PlanItem
from trainyard.plan.context import SPEC, Context


def resolve(context: Context) -> Iterator[PlanItem]:
    """Charts with their sources, the repository, and the stages that carry the charts."""
    charts = tuple(addons.wanted(context, HELM))
    yield from _sources(context, charts)
    values_setting = context.once(setting)
    for addon in charts:
        yield _release(values_setting, addon)
    yield from _upstream_folders(context)
    yield from git_sources(context)
    yield from disruption_budgets(context)
    flux = DeliverySection.of(context.spec).flux
    if flux.url is None:
        context.external.add(("source.toolkit.fluxcd.io/v1", "GitRepository", FLUX, flux.source))
    yield root_stage(context)
    before = None
    if _has_crds(context, charts):
        before = CRDS
        yield stage(context, before, account=_CHARTS, prune=False)
    yield stage(context, "controllers", before, account=_CHARTS, timeout=Duration.minutes(15))
    yield from deliverer(_CHARTS, *_RIGHTS, namespace=FLUX)


_CHARTS = "controllers"
_RIGHTS = (
    may_make("helm.toolkit.fluxcd.io", "helmreleases"),
    may_make("kustomize.toolkit.fluxcd.io", "kustomizations"),
    may_make("source.toolkit.fluxcd.io", "gitrepositories", "helmrepositories", "ocirepositories"),
)


def _has_crds(context: Context, charts: Iterable[AddOn]) -> bool:
    """Whether anything is installed before the controllers: EKS Auto Mode has the CRDs of Karpenter by itself."""
    in_charts = any(addon.stage == CRDS for addon in charts)
    return in_charts or any(addons.wanted(context, KUSTOMIZE))


def setting(context: Context) -> Setting:
    """The setting in which add-ons write their values."""
    return Setting(context, context.once(queue_manager))


def _release(setting: Setting, addon: AddOn) -> HelmRelease:
    context = setting.context
    chart = context.release.chart(addon.component)
    own: Mapping[str, Any] = context.answers.addon_values(context, addon.component)
    derived = {**addon.values(setting), **own}
    values, places = chart_values(context, addon.component, derived)
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
        awaited=addon.awaited(context),
        places=_decided(addon, places) | places,
        origins=_origins(context, addon.component),
        depends_on=_charts(addon.after),
        crds=not addon.crds_of,
        stage=addon.stage,
        stays=addon.stays,
    )


def _decided(addon: AddOn, overridden: Places) -> Places:
    """The keys of the spec that decide values, but for those that the spec overrides."""
    return {
        path: key
        for path, key in addon.keys.items()
        if not any(path[:depth] in overridden for depth in range(len(path) + 1))
    }


def _upstream_folders(context: Context) -> Iterator[PlanItem]:
    """Add-ons without a chart: upstream's manifests at the commit of the release. Flux deletes nothing of them: with
    their CRDs every job of those kinds would go."""
    for addon in addons.wanted(context, KUSTOMIZE):
        upstream = context.release.git(addon.component)
        yield GitSource(
            at=addon.at,
            name=addon.component,
            namespace=FLUX,
            url=upstream.url,
            branch=upstream.branch,
            commit=upstream.commit,
            interval=Duration(3600),
            folder=CRDS,  # a stage before: it is there when the folder is applied
        )
        yield Stage(
            at=addon.at,
            name=addon.component,
            namespace=FLUX,
            path=upstream.path,
            source=addon.component,
            prune=False,
            patches=addon.patches,
            images=upstream.images,
            folder=addon.stage,
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
    charts = [name for name in components if known[name].by == HELM]
    return tuple(charts)


def _source_name(addon: AddOn, chart: Chart) -> str:
    if chart.kind == "oci":
        return addon.component
    _, address = chart.repository.split("//", 1)
    return address.replace("/", "-").replace(".", "-")


def _sources(context: Context, charts: Iterable[AddOn]) -> tuple[HelmSource, ...]:
    sources: dict[str, HelmSource] = {}
    for addon in charts:
        chart = context.release.chart(addon.component)
        source = HelmSource(
            at=SPEC / "release",
            name=_source_name(addon, chart),
            namespace=FLUX,
            url=chart.repository,
            oci=False,
            stage=addon.stage,
        )
        if chart.kind == "oci":
            source = replace(
                source,
                oci=True,
                version=context.version(addon.component),
                digest=_digest(context, addon.component),
                signature=_signature(context, addon.component),
                origins=_origins(context, addon.component),
            )
        sources.setdefault(source.name, source)
    return tuple(sources.values())


def _digest(context: Context, component: str) -> str:
    own = OverridesSection.of(context.spec).components.get(component)
    return own.digest or "" if own else ""


def _signature(context: Context, component: str) -> ChartSignature | None:
    own = OverridesSection.of(context.spec).components.get(component)
    if own is None or own.verify is None:
        return None
    said = own.verify
    secret = said.secret_ref.name if said.secret_ref is not None else ""
    if secret:
        context.external.add(("v1", "Secret", FLUX, secret))
    identities = tuple((signer.issuer, signer.subject) for signer in said.match_oidc_identity)
    return ChartSignature(said.provider, secret, identities)


def disruption_budgets(context: Context) -> Iterator[DisruptionBudget]:
    """The budgets that charts do not make."""
    for addon in addons.wanted(context, HELM):
        if addon.budget:
            yield DisruptionBudget(
                at=addon.at,
                name=addon.component,
                namespace=context.release.chart(addon.component).namespace,
                pods=addon.budget,
                available=1,
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
            origins={"url": SPEC / "flux" / "url"},
        ),
    )


def git_secret(context: Context) -> str | None:
    """The Secret with which Flux reads the repository that the spec names; a public one needs none."""
    flux = DeliverySection.of(context.spec).flux
    if flux.secret:
        return flux.secret
    if flux.url is not None and flux.url.startswith("ssh://"):
        return FLUX
    return None


def flux_folder(context: Context) -> str:
    """Where `flux bootstrap` may write its own manifests: a folder that neither holds nor lies in the cluster's.

    Flux applies whatever it finds below a folder, and a folder that Trainyard did not write is never touched.
    """
    ours = PurePosixPath(folder(context))
    flux = PurePosixPath("clusters", context.name)
    if ours.is_relative_to(flux) or flux.is_relative_to(ours):
        return f"flux/{context.name}"
    return str(flux)
