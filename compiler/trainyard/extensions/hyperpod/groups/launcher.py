"""HyperPod as a launcher of the nodes of a pool."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from trainyard.catalog import hyperpod
from trainyard.catalog.hyperpod import ml_name, types
from trainyard.catalog.prices import sagemaker
from trainyard.core.pods.plan import HUGEPAGES
from trainyard.core.pools.pools import GPU_PRESENT, Pool
from trainyard.eks.settings.launcher import NoCommands, PoolLauncher, Refused
from trainyard.extensions.hyperpod.groups.lifecycle import ON_CREATE
from trainyard.extensions.hyperpod.groups.names import (
    execution_role_arn,
    lifecycle_prefix,
    private_subnets,
    security_groups,
)
from trainyard.extensions.hyperpod.groups.plan import (
    GROUP,
    HEALTH,
    SCHEDULABLE,
    InstanceGroup,
    own_labels,
)
from trainyard.extensions.hyperpod.settings.spec import AT, HyperPodSection
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.units import Quantity
from trainyard.plan.base import PlanItem
from trainyard.plan.context import Context
from trainyard.plan.scheduling import CAPACITY_TYPE, INSTANCE_TYPE, POOL_LABEL, ZONE, Requirement

if TYPE_CHECKING:
    from trainyard.catalog import Catalog
    from trainyard.catalog.prices import Price


# From a pool of the spec to an instance group, and what such a group cannot be.

_API = "SageMaker API, ClusterInstanceGroupSpecification (botocore 1.44.5)"
_GIB = 1024**3
_CAPACITY = {"onDemand": "on-demand", "spot": "spot"}


def refused(context: Context, pool: Pool) -> Iterator[Refused]:
    """What an instance group cannot be."""
    spec, at = pool.spec, pool.at
    for index, instance in enumerate(pool.instances):
        if instance.name in hyperpod.types():
            continue
        yield Refused(
            at / "instanceTypes" / index,
            f"has nodes of `{instance.name}`, and HyperPod has no `{hyperpod.ml_name(instance.name)}`",
            _near(instance.family),
            f"{hyperpod.source().name} ({hyperpod.source().version})",
        )
    if not pool.static:
        yield Refused(
            at / "nodes",
            f"scales from {spec.nodes.min} to {spec.nodes.max} nodes, and an instance group has a fixed number",
            f"write `nodes: {spec.nodes.max}`, which are always on",
            _API,
        )
    if len(pool.instances) > 1:
        yield Refused(
            at / "instanceTypes" / 1,
            "has several instance types, and which one a node has is not said before it is there",
            "keep one, or make a pool of each",
            _API,
        )
    if len(spec.capacity) > 1:
        ways = listed(spec.capacity_types)
        yield Refused(
            at / "capacity" / 1,
            f"is bought as {ways}, and an instance group in one way",
            "make a pool of each, and let jobs name both in order",
            _API,
        )


def _near(family: str) -> str:
    sizes = sorted(name for name in hyperpod.types() if name.startswith(f"{family}."))
    if not sizes:
        return "take a type of another family, like `g6.8xlarge` or `p5.48xlarge`"
    if len(sizes) == 1:
        return f"write `{sizes[0]}`"
    return f"take one of {listed(sizes)}"


def instance_group(context: Context, pool: Pool) -> InstanceGroup:
    """The instance group of a pool."""
    own = HyperPodSection.of(context.spec).own
    spec, at = pool.spec, pool.at
    plan = own.training_plans.get(pool.name)
    kind = _CAPACITY.get(spec.capacity_types[0], "on-demand")
    root = spec.root_volume
    context.derive(
        f"pool/{pool.name}",
        "instanceGroup",
        f"{pool.nodes} × {hyperpod.ml_name(pool.instance.name)}",
        "HyperPod launches, watches and replaces the nodes of a group of the pool's name",
        _API,
        follows=at / "nodes",
    )
    zones = private_subnets(context)
    return InstanceGroup(
        at=at,
        name=pool.name,
        labels={**own_labels(pool.name), **_labels(pool)},
        taints=pool.taints,
        requirements=(
            Requirement(INSTANCE_TYPE, "In", tuple(each.name for each in pool.instances)),
            Requirement(ZONE, "In", pool.zones),
            Requirement(CAPACITY_TYPE, "In", ("reserved" if plan else kind,)),
        ),
        limits={"nodes": Quantity.of(pool.nodes)},
        replicas=pool.nodes,
        least=pool.nodes,
        efa=True,  # HyperPod attaches what the type has, whether jobs ask for it or not
        role=execution_role_arn(context),
        scripts=lifecycle_prefix(context),
        on_create=ON_CREATE,
        checks=tuple(own.deep_health_checks),
        plan=plan,
        threads=own.threads_per_core,
        volume=-(-root.size.value // _GIB) if root else None,
        subnets=tuple(id for zone in pool.zones for id in zones.get(zone, ())),
        security_groups=security_groups(context),
        origins={
            "limits": at / "nodes",
            "replicas": at / "nodes",
            "requirements": pool.at_type,
            "instance_types": pool.at_type,
            "zones": at / "zones",
            "subnets": at / "zones",
            "capacity_types": at / "capacity",
            "labels": at / "labels",
            "taints": at / "taints",
            "efa": at / "efa",
            "volume": at / "rootVolume",
            "checks": AT / "deepHealthChecks",
            "plan": AT / "trainingPlans" / pool.name,
            "threads": AT / "threadsPerCore",
        },
    )


def _labels(pool: Pool) -> dict[str, str]:
    """Those that the request gives to the nodes."""
    labels = {POOL_LABEL: pool.name, **pool.spec.labels}
    if pool.instance.gpus:
        labels[GPU_PRESENT] = "true"
    return labels


class HyperPod(PoolLauncher):
    """The launcher of every pool of a cluster of HyperPod. Its nodes have no labels of Karpenter."""

    name = "HyperPod"
    code = "RES320"
    no_commands = NoCommands(
        "nodes of HyperPod run no commands of ours when they boot",
        "remove it: over TCP every node mounts it",
    )
    no_huge_pages = "nobody says how many huge pages nodes of HyperPod have"
    uncounted = (HUGEPAGES,)
    ages = False
    disks = "awsome-distributed-training 7217859, on_create_main.sh; SageMaker API, ClusterEbsVolumeConfig"
    disks_at = "/opt/dlami/nvme"
    made_by = "HyperPod"
    scripts = "hyperpod"
    own_label = True
    part_label = GROUP
    protection = {}
    instance_labels = False
    ready_labels = {HEALTH: SCHEDULABLE}
    untested = "it is an instance group of HyperPod, which tests its nodes by `deepHealthChecks`"

    def quota(self, context: Context, pool: Pool) -> tuple[str, str, bool]:
        """SageMaker developer guide, sagemaker-hyperpod-prerequisites: quotas; nothing of spot and training plans."""

        planned = pool.name in HyperPodSection.of(context.spec).own.training_plans
        established = not planned and "spot" not in pool.spec.capacity_types
        return "sagemaker", f"{ml_name(pool.instance.name)} for cluster usage", established

    def type_label(self, name: str) -> str:
        return ml_name(name) if name in types() else ""

    def price(self, catalog: Catalog, name: str, region: str) -> Price | None:
        return sagemaker(catalog, name, region)

    def refused(self, context: Context, pool: Pool) -> Iterator[Refused]:
        from trainyard.extensions.hyperpod.groups.launcher import refused

        yield from refused(context, pool)

    def nodes(self, context: Context, pool: Pool) -> Iterator[PlanItem]:
        from trainyard.extensions.hyperpod.groups.launcher import instance_group

        yield instance_group(context, pool)


LAUNCHER = HyperPod()
