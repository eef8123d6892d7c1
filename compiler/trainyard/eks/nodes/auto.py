"""Pools of EKS Auto Mode: a NodeClass of its own and a NodePool, whose nodes EKS launches, patches and repairs.

Sources: EKS user guide, create-node-class, create-node-pool, auto-static-capacity, auto-odcr, auto-security,
automode-learn-instances (commit 06faff14), device-management-efa (commit 43d79bdb) and auto-change (to 2026-08-12) of
awsdocs/amazon-eks-user-guide, read 2026-11; karpenter v1.14.1, pkg/controllers/disruption/types.go.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace

from trainyard.catalog.auto_mode import launches
from trainyard.core.jobs.job import Job
from trainyard.core.jobs.stopping import BLOCK_DRAIN
from trainyard.core.pools.pools import GPU_PRESENT, Pool
from trainyard.eks.nodes.daemons import daemons
from trainyard.eks.nodes.karpenter import node_classes, node_pools
from trainyard.eks.nodes.launchers import launchers
from trainyard.eks.nodes.plan import AutoNodeClass, Boot, Budget, NodeClass, NodePool
from trainyard.eks.settings.launcher import Refused, Volume, some_nodes_always_on
from trainyard.eks.settings.spec import AT_EKS, ClusterSection
from trainyard.language.units import Duration
from trainyard.plan import Plan, PlanItem
from trainyard.plan.context import Context

_NODE_CLASS = "EKS user guide, create-node-class"
_LEARN = "EKS user guide, automode-learn-instances"
_ADDRESSES_OF_A_PREFIX = 16
_MOST_IOPS, _MOST_THROUGHPUT = 16000, 1000


def auto_nodes(context: Context, pool: Pool) -> Iterator[PlanItem]:
    """The node classes of a pool, and its NodePools."""
    for node_class in node_classes(context, pool):
        yield _node_class(context, pool, node_class)
    for node_pool in node_pools(context, pool):
        yield _node_pool(context, pool, node_pool)


def root_volume(plan: Plan, pool: str) -> Volume | None:
    """What the nodes of a pool have for pods, images and logs."""
    for part in plan.of(NodePool):
        node_class = plan.named(AutoNodeClass, part.node_class)
        if part.title == pool and node_class is not None and node_class.ephemeral is not None:
            disk = node_class.ephemeral
            return Volume(disk.size, disk.iops, disk.throughput)
    return None


def refused(context: Context, pool: Pool) -> Iterator[Refused]:
    """What EKS Auto Mode does not do of what a pool asks for."""
    spec, at = pool.spec, pool.at
    for index, instance in enumerate(pool.instances):
        if not launches(instance):
            yield Refused(
                at / "instanceTypes" / index,
                f"is of `{instance.name}`, which EKS Auto Mode launches none of",
                "take a type of another family, or remove `autoMode`: Karpenter launches every type",
                _LEARN,
            )
    yield from some_nodes_always_on(pool, "EKS Auto Mode", _LEARN)
    for other in launchers():
        if other.key and other.launches(context.spec, spec):
            yield Refused(
                at / other.key,
                f"has `{other.key}`, whose nodes need add-ons that a cluster with EKS Auto Mode has not",
                "remove it, or `autoMode`",
                "eksctl v0.230.0, pkg/ctl/cmdutils/configfile.go",
            )
    if spec.gpu_sharing is not None:
        yield Refused(
            at / "gpuSharing",
            "shares its GPUs, and the device plugin of EKS Auto Mode, and its nodes' start, have no settings",
            "remove it, or `autoMode`: Karpenter's nodes cut their GPUs when they boot",
            "EKS user guide, auto-accelerated",
        )
    if spec.burn_in is not None:
        yield Refused(
            at / "burnIn",
            "tests new nodes, and no source says that a node of EKS Auto Mode lets a pod do so: its image is locked",
            "remove it: EKS repairs nodes that its monitoring agent finds faulty",
            "EKS user guide, auto-security",
        )
    if spec.topology == "network":
        yield Refused(
            at / "topology",
            "has a topology of EC2's network, and no source says that nodes of EKS Auto Mode have its labels",
            "remove it: `placement: cluster` keeps nodes close together",
            "EKS user guide, create-node-pool: supported labels",
        )
    yield from _disks(pool)


def _disks(pool: Pool) -> Iterator[Refused]:
    """Auto Mode takes NVMe disks for what is ephemeral where they are larger than `ephemeralStorage`."""
    spec = pool.spec
    at = pool.at
    nvme_gb = pool.instance.nvme_gb
    if spec.local_storage == "none" and nvme_gb:
        yield Refused(
            at / "localStorage",
            f"leaves {nvme_gb} GB of NVMe unused, which EKS Auto Mode puts images and `/tmp` on",
            "remove it",
            _LEARN,
        )
    volume = spec.root_volume
    if volume is None:
        return
    nvme_bytes = nvme_gb * 1000**3
    if nvme_gb and volume.size.value >= nvme_bytes:
        yield Refused(
            at / "rootVolume" / "size",
            f"has {volume.size} of EBS and {nvme_gb} GB of NVMe, which EKS Auto Mode then leaves to pods",
            "write less than the NVMe disks have: they take its place",
            _LEARN,
        )
    for key, value, most in (
        ("iops", volume.iops, _MOST_IOPS),
        ("throughput", volume.throughput, _MOST_THROUGHPUT),
    ):
        if value is not None and value > most:
            yield Refused(
                at / "rootVolume" / key,
                f"has a volume of {value} `{key}`, and EKS Auto Mode takes {most} at most",
                f"write at most `{key}: {most}`",
                _NODE_CLASS,
            )


def _node_class(context: Context, pool: Pool, whole: NodeClass) -> AutoNodeClass:
    """What EKS Auto Mode has of a node class. Tags of the spec are left out: the role of the cluster, which launches
    the nodes, may set none of its own (EKS user guide, auto-learn-iam: custom tags)."""
    names = [field.name for field in fields(NodeClass)]
    known = {name: getattr(whole, name) for name in names}
    known.update(
        ami_alias=None,
        block_devices=(),
        instance_store=None,
        metadata_hops=None,
        tags={},
        user_data=False,
        boot=Boot(),
    )
    return AutoNodeClass(
        **known,
        ephemeral=replace(whole.block_devices[0], device="", encrypted=True),
        prefixes=_prefixes(context, pool),
    )


def _prefixes(context: Context, pool: Pool) -> int | None:
    """Blocks of addresses for pods. Where a class says its interfaces, EKS adds none after the launch."""
    if not pool.efa:
        return None
    agents = len(daemons(context, pool.instance))
    most = max(pool.instance.accelerators, 1)
    pods = 2 * most + agents
    prefixes = -(-pods // _ADDRESSES_OF_A_PREFIX)
    context.derive(
        f"pool/{pool.name}",
        "secondaryIPv4PrefixCount",
        prefixes,
        f"addresses for {pods} pods: {most} of jobs, as many that mount their buckets, and {agents} agents; with "
        "interfaces that the class says a node gets none later",
        "EKS user guide, device-management-efa",
    )
    return prefixes


def _node_pool(context: Context, pool: Pool, whole: NodePool) -> NodePool:
    grace, expire_after = _life(context, pool)
    requirements = [
        requirement
        for requirement in whole.requirements
        if not requirement.key.startswith("karpenter.k8s.aws/")
    ]
    labels = dict(whole.labels)
    labels.pop(GPU_PRESENT, None)
    return replace(
        whole,
        auto=True,
        labels=labels,
        requirements=tuple(requirements),
        budgets=_budgets(pool),
        expire_after=str(expire_after),
        termination_grace=str(grace),
    )


def _life(context: Context, pool: Pool) -> tuple[Duration, Duration]:
    """How long a run goes on where its node has reached its age, and that age. A block ends by itself."""
    auto = ClusterSection.of(context.spec).auto_mode
    assert auto is not None, "the cluster is of EKS Auto Mode"
    target = f"pool/{pool.name}"
    context.derive(
        target,
        "expireAfter",
        auto.expire_after,
        "from that age on a node gets no more pods: it lives 504h at most, the time included in which it waits",
        "EKS user guide, auto-security",
    )
    if pool.block:
        return BLOCK_DRAIN, auto.expire_after
    context.settle(
        target,
        "terminationGracePeriod",
        auto.termination_grace_period,
        auto.grace,
        "a run goes on for so long where its node has reached its age, and is ended then",
        "EKS user guide, create-node-pool: termination grace period",
        at=AT_EKS / "autoMode" / "terminationGracePeriod",
    )
    return auto.grace, auto.expire_after


def _budgets(pool: Pool) -> tuple[Budget, ...]:
    """No node is replaced for a new image while it has pods. One that has a grace period would be: pods that say
    `do-not-disrupt` hold up only nodes without (karpenter v1.14.1, disruption/types.go, NewCandidate), and EKS releases
    an image each week."""
    drifted = Budget("0", ("Drifted",))
    if pool.static:
        return (drifted,)
    return (Budget("100%", ("Empty",)), drifted, Budget("0", ("Underutilized",)))


def check_life(context: Context, job: Job) -> None:
    """A node of EKS Auto Mode ends at its maximum age, even if jobs run on it."""
    auto = ClusterSection.of(context.spec).auto_mode
    timeout = job.spec.timeout
    if auto is None or timeout is None:
        return
    seconds = auto.expire_after.seconds + auto.grace.seconds
    whole = Duration(seconds)
    if timeout > whole:
        context.fault(
            "RES192",
            f"job `{job.spec.name}` may take {timeout}, "
            f"and a node of EKS Auto Mode lives {whole} at most",
            job.at / "timeout",
            f"write at most `{auto.grace}`, for which every node waits, and let the next job "
            "resume; or remove `autoMode`",
            source="EKS user guide, auto-security: maximum lifetime of 21 days",
        )
