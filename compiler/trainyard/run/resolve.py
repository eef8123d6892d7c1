"""Pass 3: spec and facts to plan. All names are bound, and all defaults are filled in and recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trainyard.catalog import Catalog, Release
from trainyard.core.cloud.arns import check_arns
from trainyard.core.network.spec import NetworkSection
from trainyard.core.pools.spec import PoolsSection
from trainyard.language.diagnostics import Diagnostic, Severity
from trainyard.language.diagnostics.diagnostic import error
from trainyard.language.diagnostics.near import near
from trainyard.language.models.cluster import ClusterSpec, TrainingCluster
from trainyard.language.places import Route
from trainyard.language.source.include import Included
from trainyard.language.source.texts import Text
from trainyard.plan import Plan, PlanItem
from trainyard.plan.context import SPEC, Context, near_help
from trainyard.plan.features import Platform, parts
from trainyard.plan.naming import other_cluster
from trainyard.run.platforms import EKS

__all__ = ["resolve"]


def resolve(
    spec: TrainingCluster,
    catalog: Catalog,
    output: str = "generated",
    platform: Platform = EKS,
    included: Sequence[Included] = (),
    texts: Mapping[Route, Text] | None = None,
    *,
    explained: bool = True,
) -> tuple[Plan | None, list[Diagnostic]]:
    """The plan of a spec, or every reason why there is none.

    ``output``: the folder of all clusters, by its path in the repository; ``included``: what the spec includes;
    ``texts``: the files that it names, by the route of their path; ``explained``: derived values are recorded.
    """
    release = _release(spec.spec, catalog)
    if release is None:
        fact = f"release `{spec.spec.release}` is unknown"
        help = near_help(str(spec.spec.release), catalog.releases, "release")
        return None, [error("RES001", fact, SPEC / "release", help=help)]
    context = Context(
        spec.metadata.name,
        spec.spec,
        catalog,
        release,
        output,
        platform,
        [],
        included,
        texts or {},
        explained=explained,
    )
    context.diagnostics += context.answers.check_release(spec.spec, release)
    if spec.spec.region not in catalog.regions:
        context.fault(
            "RES003",
            f"region `{spec.spec.region}` is unknown",
            SPEC / "region",
            _region_help(spec.spec, catalog),
        )
    _check_name(context)
    plan = _plan(context)
    check_arns(context)
    context.forget()
    severities = [fault.severity for fault in context.diagnostics]
    if Severity.ERROR in severities:
        return None, context.diagnostics
    return plan, context.diagnostics


def _check_name(context: Context) -> None:
    """A cluster `a-network` and a cluster `a` would have one stack in an account, and take turns in it."""
    other = other_cluster(context.name)
    if other:
        context.doubt(
            "RES499",
            f"a stack of cluster `{context.name}` has the name that one of a cluster `{other}` has",
            Route(("metadata", "name")),
            f"write another name, unless no cluster `{other}` will be in this account and Region",
        )


def _region_help(spec: ClusterSpec, catalog: Catalog) -> str:
    """The Region that was meant: of those that are alike, that of the zones which the spec names."""
    network = NetworkSection.of(spec).network
    zones = [zone for pool in PoolsSection.of(spec).node_pools for zone in pool.zones]
    zones += network.created.zones
    if network.existing is not None:
        zones += [subnet.zone for subnet in network.existing.subnets]
    named = [zone[:-1] for zone in zones]
    alike = near(spec.region, catalog.regions, limit=len(catalog.regions))
    fitting = [region for region in alike if region in named]
    return near_help(spec.region, fitting or catalog.regions, "region")


def _release(spec: ClusterSpec, catalog: Catalog) -> Release | None:
    """The set of versions that a spec names, or the newest."""
    if spec.release is None:
        return catalog.newest_release
    return catalog.release(spec.release)


def _plan(context: Context) -> Plan:
    items: list[PlanItem] = []
    for subject in parts("resolve", context.platform.features):
        items.extend(subject.resolve(context))
    context.answers.settle(context)
    return Plan(
        items=tuple(items),
        derived=tuple(context.derived),
        external=frozenset(context.external),
        release=context.release.name,
        waiting=tuple(context.waiting),
    )
