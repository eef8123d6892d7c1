"""What happens to a run when its job leaves the spec, and when a controller is upgraded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from trainyard.eks.flux.plan import HelmRelease, chart_version
from trainyard.eks.jobs.kinds import kinds
from trainyard.eks.jobs.plan import TRAIN_JOB
from trainyard.extensions.forecast.failures.footing import Footing
from trainyard.extensions.forecast.failures.outcome import Failure, Outcome, runs_on
from trainyard.extensions.forecast.planned import PlannedCluster

_PRUNE = "Flux kustomize-controller 1.9, kustomize.toolkit.fluxcd.io/prune: disabled (RES088)"
_KUEUE = "kueue"


def leaves(job: Footing) -> Outcome:
    """Flux deletes what it no longer finds in git, but no run: each is written so, and no patch can change it."""
    acts = "Flux leaves the run alone: it ends by itself, or by `kubectl delete`"
    return runs_on(Failure.LEAVES, job, acts, source=_PRUNE)


def components_of(planned: PlannedCluster, job: Footing) -> list[str]:
    """The controllers that a job runs by, as the release calls them."""
    kind = kinds().get(job.kind)
    found = []
    if job.kind == TRAIN_JOB:
        found += ["trainer", "jobset"]
    elif job.kind == "JobSet":
        found.append("jobset")
    elif kind is not None and kind.operator:
        found.append(kind.operator)
    charts = [release.chart for release in planned.plan.of(HelmRelease)]
    if _KUEUE in charts:
        found.append(_KUEUE)
    return found


def upgrades(planned: PlannedCluster, job: Footing, components: Iterable[str]) -> Iterator[Outcome]:
    """The outcome of a new version of each controller, by what the release says of it."""
    release = planned.catalog.release(planned.plan.release)
    if release is None:
        return
    for name in components:
        component = release.components.get(name)
        if component is None or not component.restarts:
            continue
        chart = component.chart.name if component.chart is not None else name
        version = chart_version(planned.plan, chart) or component.version or ""
        acts = f"restarts {component.restarts}"
        if any(upgrade.no_runs for upgrade in component.upgrades):
            acts += "; a step that must wait for the end of runs is refused (CHG012)"
        outcome = runs_on(
            Failure.UPGRADE, job, acts, of=f"{name} {version}".rstrip(), source=component.source
        )
        yield replace(outcome, notices="people, who merge it")
