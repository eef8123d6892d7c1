"""Pass 3: spec and facts to plan. Everything bound, nothing left to a default that nobody saw."""

from __future__ import annotations

from collections.abc import Iterable

from compiler.catalog import Catalog
from compiler.diagnostics import Diagnostic, Severity
from compiler.plan import Plan
from compiler.plan.jobs import Runtime, TrainJob
from compiler.plan.storage import PersistentVolume, VolumeClaim
from compiler.resolve import (
    account,
    binding,
    bounds,
    cluster,
    delivery,
    health,
    jobs,
    nodes,
    platform,
    queues,
    storage,
    topology,
)
from compiler.resolve.context import SPEC, Context, near_help
from compiler.resolve.pools import resolve_pools
from compiler.resolve.release import choose_release
from compiler.spec import TrainingCluster
from compiler.subjects import addons
from compiler.subjects.addons.addon import Setting

__all__ = ["resolve"]


def resolve(
    spec: TrainingCluster, catalog: Catalog, output: str = "generated"
) -> tuple[Plan | None, list[Diagnostic]]:
    """The plan of a spec, or every reason why there is none.

    ``output``: the folder of all clusters, by its path in the repository.
    """
    release, faults = choose_release(spec.spec, catalog)
    if release is None:
        return None, faults
    context = Context(
        spec.metadata.name, spec.spec, catalog, release, output, list(faults)
    )
    if spec.spec.region not in catalog.regions:
        context.fault(
            "RES003",
            f"region `{spec.spec.region}` is unknown",
            SPEC / "region",
            near_help(spec.spec.region, catalog.regions, "region"),
        )
    plan = _plan(context)
    if any(each.severity is Severity.ERROR for each in context.diagnostics):
        return None, context.diagnostics
    return plan, context.diagnostics


def _plan(context: Context) -> Plan:
    pools = resolve_pools(context)
    bound = queues.resolve_queues(context, pools)
    stored = storage.resolve_storage(context)
    bounds.check_pools(context, pools)
    bounds.check_system(context)
    bounds.check_principals(context)
    bounds.check_file_systems(context)
    training = binding.resolve_jobs(context, pools, bound, stored)
    for each in training:
        bounds.check_job(context, each, stored)
    made = [jobs.train_job(context, each) for each in training]
    routes = platform.namespace_routes(context, bound)
    manager = queues.queue_manager(context)
    setting = Setting(context, manager)
    sources, releases = delivery.helm(setting)
    found = health.detectors(context, pools)
    mounted = _mounted(context, training, stored)
    made_cluster = cluster.cluster(setting, pools)
    return Plan(
        cluster=made_cluster,
        node_classes=tuple(
            made
            for each in pools.values()
            for made in nodes.node_classes(context, each)
        ),
        node_pools=tuple(
            made for each in pools.values() for made in nodes.node_pools(context, each)
        ),
        node_overlays=tuple(
            nodes.node_overlay(context, each)
            for each in pools.values()
            if each.overlaid
        ),
        topologies=topology.topologies(pools.values()),
        flavors=tuple(queues.flavor(each) for each in pools.values()),
        cohorts=queues.cohorts(context, bound),
        cluster_queues=tuple(
            queues.cluster_queue(context, each) for each in bound.values()
        ),
        local_queues=queues.local_queues(bound),
        priorities=queues.priorities(context),
        queue_manager=manager,
        runtimes=_distinct(ran for _, ran in made),
        jobs=tuple(job for job, _ in made),
        namespaces=platform.namespaces(routes),
        resource_quotas=platform.resource_quotas(context),
        service_accounts=platform.service_accounts(routes),
        access=platform.access(context),
        network_policies=platform.network_policies(routes),
        pod_priorities=platform.pod_priorities(),
        disruption_budgets=delivery.disruption_budgets(context),
        volumes=tuple(volume for volume, _ in mounted),
        claims=tuple(claim for _, claim in mounted),
        detectors=found,
        tainters=health.tainters(context, found),
        helm_sources=sources,
        releases=releases,
        git_sources=delivery.git_sources(context),
        stages=delivery.stages(context, jobs=bool(made), watched=bool(found)),
        bootstrap=cluster.bootstrap(
            context, pools, account.account(context, pools, made_cluster)
        ),
        versions=_versions(context),
        derived=tuple(context.derived),
        external=_external(context, training, [job for job, _ in made]),
        release=context.release.name,
        shares={name: each.share.resources() for name, each in pools.items()},
    )


def _versions(context: Context) -> tuple[tuple[str, str], ...]:
    own = context.spec.versions.given()
    used = addons.used(context)
    chosen = {
        name: version for name, version in context.versions.items() if name in used
    }
    needed = {
        pair.component: pair for pair in context.release.pairs if pair.wanted(chosen)
    }
    for name, version in chosen.items():
        reason = f"tested together in release {context.release.name}"
        source = context.release.components[name].source
        if name in needed:
            reason, source = needed[name].reason, needed[name].source
        context.settle(
            "cluster",
            f"versions.{name}",
            own.get(name),
            version,
            reason,
            source,
            at=SPEC / "versions" / name,
        )
    return tuple(sorted(chosen.items()))


def _distinct(runtimes: Iterable[Runtime]) -> tuple[Runtime, ...]:
    return tuple({each.name: each for each in reversed(list(runtimes))}.values())


def _mounted(
    context: Context, training: list[binding.Job], stored: dict[str, storage.Storage]
) -> list[tuple[PersistentVolume, VolumeClaim]]:
    pairs = dict.fromkeys(
        (job.namespace, mount.storage)
        for job in training
        for mount in job.spec.mounts
        if mount.storage in stored
    )
    storage.check_volumes(context, stored, list(pairs))
    return [
        storage.volumes(context, stored[name], namespace) for namespace, name in pairs
    ]


def _external(
    context: Context, training: list[binding.Job], made: list[TrainJob]
) -> frozenset[tuple[str, str, str, str]]:
    """What others make and has to exist: Secrets, accounts, and the repository that Flux was bootstrapped with."""
    found = {
        ("v1", "Secret", job.namespace, each.secret)
        for job in made
        for each in job.env
        if each.secret
    }
    found |= {
        ("v1", "ServiceAccount", job.namespace, account)
        for job in training
        if (account := job.spec.service_account)
    }
    if context.spec.flux.url is None:
        found.add(
            (
                "source.toolkit.fluxcd.io/v1",
                "GitRepository",
                delivery.FLUX,
                context.spec.flux.source,
            )
        )
    return frozenset(found)
