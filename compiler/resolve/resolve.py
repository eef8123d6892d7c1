"""Pass 3: spec and facts to plan. All names are bound, and all defaults are filled in and recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from compiler.catalog import Catalog
from compiler.diagnostics import Diagnostic, Severity
from compiler.plan import Plan, PlanNode
from compiler.platforms import EKS
from compiler.platforms.eks import addons
from compiler.resolve.context import SPEC, Context, near_help
from compiler.resolve.release import choose_release, settle_versions
from compiler.rooms import Platform, parts
from compiler.source import Route
from compiler.source.include import Included
from compiler.source.texts import Text
from compiler.spec.cluster import TrainingCluster

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
    release, faults = choose_release(spec.spec, catalog)
    if release is None:
        return None, faults
    context = Context(
        spec.metadata.name,
        spec.spec,
        catalog,
        release,
        output,
        platform,
        list(faults),
        included,
        texts or {},
        explained=explained,
    )
    if spec.spec.region not in catalog.regions:
        context.fault(
            "RES003",
            f"region `{spec.spec.region}` is unknown",
            SPEC / "region",
            near_help(spec.spec.region, catalog.regions, "region"),
        )
    plan = _plan(context)
    context.forget()
    severities = [fault.severity for fault in context.diagnostics]
    if Severity.ERROR in severities:
        return None, context.diagnostics
    return plan, context.diagnostics


def _plan(context: Context) -> Plan:
    nodes: list[PlanNode] = []
    for subject in parts("resolve", context.platform.rooms):
        nodes.extend(subject.resolve(context))
    settle_versions(context, addons.used(context))
    return Plan(
        nodes=tuple(nodes),
        derived=tuple(context.derived),
        external=frozenset(context.external),
        release=context.release.name,
        waiting=tuple(context.waiting),
    )
