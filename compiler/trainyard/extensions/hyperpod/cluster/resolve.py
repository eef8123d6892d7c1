"""The cluster of HyperPod: the request, what its nodes need, and the chart of its agents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.catalog import hyperpod, iam
from trainyard.core.network.spec import NetworkSection
from trainyard.core.pools.pools import resolve_pools
from trainyard.core.pools.spec import PoolsSection
from trainyard.eks import addons
from trainyard.eks.flux.plan import GitSource, HelmRelease
from trainyard.eks.flux.stages import FLUX
from trainyard.eks.jobs.plan import Operator
from trainyard.eks.settings.spec import AT_EKS, ClusterSection
from trainyard.extensions.hyperpod.cluster.plan import HyperPodCluster, HyperPodStack
from trainyard.extensions.hyperpod.groups.names import (
    execution_role,
    lifecycle_prefix,
    private_subnets,
    scripts_bucket,
    security_groups,
)
from trainyard.extensions.hyperpod.jobs.kind import RESUMED
from trainyard.extensions.hyperpod.jobs.kinds.hyperpod_pytorch_job import (
    OPERATOR,
    OPERATOR_ACCOUNT,
    OPERATOR_NAMESPACE,
)
from trainyard.extensions.hyperpod.jobs.wanted import operated
from trainyard.extensions.hyperpod.settings.spec import AT, HyperPodSection
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.units import Duration
from trainyard.plan import PlanItem
from trainyard.plan.context import SPEC, Context

CHART = "hyperpod-helm-chart"
"""The component with the agents of HyperPod, and the operators whose jobs it resumes."""
_EXPORTER = "dcgm-exporter"
_OBSERVES = "amazon-sagemaker-hyperpod-observability"
_API = "SageMaker API, CreateCluster (botocore 1.44.5)"
_MOST_SUBNETS, _MOST_GROUPS, _MOST_INSTANCE_GROUPS = 16, 5, 100


def resolve(context: Context) -> Iterator[PlanItem]:
    """The request without its groups, the stack, and the chart."""
    _check_region(context)
    _check_network(context)
    _check_plans(context)
    _check_groups(context)
    _check_exporters(context)
    spec = context.spec
    zones = private_subnets(context).values()
    yield HyperPodCluster(
        at=AT,
        name=context.name,
        eks=context.cluster_arn,
        recovery=HyperPodSection.of(spec).own.node_recovery,
        subnets=tuple(id for ids in zones for id in ids),
        security_groups=security_groups(context),
        tags=dict(spec.tags),
        origins={
            "recovery": AT / "nodeRecovery",
            "subnets": SPEC / "network",
            "security_groups": SPEC / "network",
            "tags": SPEC / "tags",
        },
    )
    yield HyperPodStack(
        at=AT,
        cluster=context.name,
        region=spec.region,
        account=spec.account,
        partition=context.partition,
        role=execution_role(context),
        bucket=scripts_bucket(context),
        scripts=lifecycle_prefix(context),
        operator=_operator_trust(context),
        tags=dict(spec.tags),
    )
    yield from _chart(context)
    yield Operator(at=AT, name=RESUMED.operator)
    if operated(spec):
        yield Operator(at=AT, name=OPERATOR)


def _operator_trust(context: Context) -> Mapping[str, Any]:
    """Who may take the role of HyperPod's training operator, where the spec has jobs of it."""
    if not operated(context.spec):
        return {}
    return iam.pod_identity_trust(context.cluster_arn, OPERATOR_NAMESPACE, OPERATOR_ACCOUNT)


def _check_region(context: Context) -> None:
    region = context.spec.region
    if region not in hyperpod.regions():
        context.doubt(
            "RES345",
            f"SageMaker HyperPod is not known to be in Region `{region}`",
            SPEC / "region",
            f"take one that has it: {listed(hyperpod.regions())}",
            source=hyperpod.regions_source(),
        )


def _check_network(context: Context) -> None:
    existing = NetworkSection.of(context.spec).network.existing
    if existing is None:
        context.fault(
            "RES323",
            "the request of HyperPod names subnets by their ids, and the spec names none",
            AT,
            "write `network: {existing: {vpc: …, subnets: […]}}` with private subnets in the zones of the pools",
            source=_API,
        )
        return
    subnets = [subnet for subnet in existing.subnets if not subnet.public]
    if len(subnets) > _MOST_SUBNETS:
        context.fault(
            "RES323",
            f"the network has {len(subnets)} private subnets, and HyperPod takes {_MOST_SUBNETS}",
            SPEC / "network" / "existing" / "subnets",
            "leave out those of zones without a pool",
            source=_API,
        )
    groups = security_groups(context)
    if len(groups) > _MOST_GROUPS:
        context.fault(
            "RES323",
            f"nodes would have {len(groups)} security groups with the cluster's own, and HyperPod takes {_MOST_GROUPS}",
            SPEC / "network" / "existing" / "securityGroups",
            f"write {_MOST_GROUPS - 1} at most",
            source=_API,
        )


def _check_groups(context: Context) -> None:
    pools = PoolsSection.of(context.spec).node_pools
    if len(pools) > _MOST_INSTANCE_GROUPS:
        context.fault(
            "RES324",
            f"the spec has {len(pools)} pools, and a cluster of HyperPod {_MOST_INSTANCE_GROUPS} instance groups",
            SPEC / "nodePools" / _MOST_INSTANCE_GROUPS,
            "make a second cluster for the rest",
            source=_API,
        )


def _check_exporters(context: Context) -> None:
    """HyperPod's add-on for observability has exporters of its own, next to those of `monitoring`."""
    exports = any(addon.component == _EXPORTER for addon in addons.installed(context))
    if exports and _OBSERVES in ClusterSection.of(context.spec).eks.addons:
        context.doubt(
            "RES436",
            f"`{_OBSERVES}` and `monitoring` both run an exporter on each GPU, and a GPU lets one of them have its "
            "profiling counters",
            AT_EKS / "addons" / _OBSERVES,
            "remove the add-on, or `monitoring`",
            source="NVIDIA/dcgm-exporter #7; SageMaker developer guide, "
            "hyperpod-observability-addon: Amazon EKS add-on for HyperPod observability",
        )


def _check_plans(context: Context) -> None:
    """A training plan is of the cluster's account and Region, for a pool that there is and that buys nothing else."""
    pools = context.once(resolve_pools)
    for name, arn in HyperPodSection.of(context.spec).own.training_plans.items():
        at = AT / "trainingPlans" / name
        pool = context.find("RES325", "pool", name, pools, at)
        if pool is None:
            continue
        _, _, _, region, account, _ = arn.split(":", 5)
        if (region, account) != (context.spec.region, context.spec.account):
            context.fault(
                "RES325",
                f"the training plan is of Region `{region}` and account {account}, and the cluster of Region "
                f"`{context.spec.region}` and account {context.spec.account}",
                at,
                "write the ARN of a plan of the cluster's own",
                source=_API,
            )
        ways = pool.spec.capacity_types
        if ways != ("onDemand",):
            context.fault(
                "RES325",
                f"the nodes of pool `{name}` come from a training plan, and the pool is bought as {listed(ways)}",
                at,
                "remove `capacity` of the pool",
                source=_API,
            )


def _chart(context: Context) -> Iterator[PlanItem]:
    """HyperPod's own chart, at a commit of its repository. What EKS' add-ons bring already it leaves out.

    Flux brings it before the cluster of HyperPod is made, as the chart's page asks; the release is called
    `dependencies`, by which HyperPod's documentation upgrades it.
    """
    upstream = context.release.git(CHART)
    yield GitSource(
        at=AT,
        name=CHART,
        namespace=FLUX,
        url=upstream.url,
        branch=upstream.branch,
        commit=upstream.commit,
        interval=Duration(3600),
        folder="controllers",
    )
    yield HelmRelease(
        at=AT,
        name="dependencies",
        namespace=FLUX,
        target=upstream.namespace,
        chart=upstream.path,
        version="",
        source=CHART,
        oci=False,
        git=True,
        values={
            # The add-ons of the release have these; PyTorchJobs are the jobs that HyperPod resumes.
            "nvidia-device-plugin": {"devicePlugin": {"enabled": False}},
            "aws-efa-k8s-device-plugin": {"devicePlugin": {"enabled": False}},
            "neuron-device-plugin": {"devicePlugin": {"enabled": False}},
            "mpi-operator": {"enabled": False},
            "training-operators": {"schemes": ["pytorchjob"]},
            "global": {"region": context.spec.region},
        },
    )
