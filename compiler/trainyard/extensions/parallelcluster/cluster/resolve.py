"""The cluster: its head node, where it is, and what all nodes may do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.catalog import InstanceType
from trainyard.core.network.spec import ExistingNetwork, NetworkSection, Subnet
from trainyard.core.network.zones import check_zones
from trainyard.core.pools.pools import resolve_pools
from trainyard.core.secrets.spec import SecretsSection
from trainyard.core.storage.made import check_key
from trainyard.extensions.parallelcluster.batch.resolve import KILL_WAIT
from trainyard.extensions.parallelcluster.cluster.plan import (
    AccountingDatabase,
    LoginPool,
    NodeStack,
    SlurmCluster,
)
from trainyard.extensions.parallelcluster.notifications.topics import by_receiver
from trainyard.extensions.parallelcluster.settings.names import (
    node_policy,
    nodes_export,
    own_objects,
    policies,
    scripts,
    scripts_bucket,
    security_groups,
)
from trainyard.extensions.parallelcluster.settings.policies import check_policies
from trainyard.extensions.parallelcluster.settings.root_volumes import check_root_volume
from trainyard.extensions.parallelcluster.settings.spec import AT, ClusterSection, ParallelCluster
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.places import Route
from trainyard.language.units import Duration, Quantity
from trainyard.plan import PlanItem
from trainyard.plan.context import SPEC, Context

_GIB = 1024**3
_HEAD_GIB = 200
_IDLE_MINUTES = 15
_GRACE_MINUTES = 10
_NOBODY = "127.0.0.1/32"
# aws-parallelcluster 3.16.1, resources/supported-regions
_REGIONS = frozenset((
    "af-south-1", "ap-east-1", "ap-northeast-1", "ap-northeast-2", "ap-south-1", "ap-southeast-1",
    "ap-southeast-2", "ap-southeast-3", "ap-southeast-5", "ap-southeast-7", "ca-central-1",
    "cn-north-1", "cn-northwest-1", "eu-central-1", "eu-north-1", "eu-south-1", "eu-west-1",
    "eu-west-2", "eu-west-3", "il-central-1", "me-south-1", "sa-east-1", "us-east-1", "us-east-2",
    "us-gov-east-1", "us-gov-west-1", "us-west-1", "us-west-2",
))  # fmt: skip
# slurm.conf (Slurm documentation): limits of associations hold only where they are enforced, and without weights every
# job has the same priority.
_ACCOUNTED: Mapping[str, str | int] = {
    "AccountingStorageEnforce": "associations,limits,qos,safe",
    "PriorityWeightAge": 100,
    "PriorityWeightFairshare": 1000,
    "PriorityWeightQOS": 10000,
}


def resolve(context: Context) -> Iterator[PlanItem]:
    """The cluster, and what its nodes need before there are any."""
    _check_region(context)
    check_zones(context)
    network = NetworkSection.of(context.spec).network
    if network.existing is None:
        context.fault(
            "RES312",
            "the spec names no network, and files of ParallelCluster name subnets by their ids",
            AT,
            "add `network: {existing: {vpc: …, subnets: [{id: …, zone: …}]}}`; `pcluster configure` makes a VPC",
            key=True,
            source="aws-parallelcluster 3.16.1, HeadNodeNetworkingSchema.SubnetId",
        )
        return
    own = ClusterSection.of(context.spec).own
    subnet = _head_subnet(context, own)
    _check_head_type(context, own)
    check_policies(context, own)
    yield _cluster(context, own, subnet)
    yield _stack(context, own, network.existing.vpc)


def _check_region(context: Context) -> None:
    region = context.spec.region
    if region in context.catalog.regions and region not in _REGIONS:
        context.fault(
            "RES314",
            f"ParallelCluster does not know the Region `{region}`",
            SPEC / "region",
            f"it is in {listed(sorted(_REGIONS))}; or use a cluster of platform `eks`",
            source="aws-parallelcluster 3.16.1, resources/supported-regions",
        )


def _check_head_type(context: Context, own: ParallelCluster) -> None:
    """The head node has the architecture of the compute nodes, and memory for their number."""
    at = AT / "headNode" / "instanceType"
    head = context.instance(own.head_node.instance_type, at)
    if head is None:
        return
    _check_without_accelerators(context, head, "the head node", at)
    pools = context.once(resolve_pools)
    _check_login_type(context, own, head.arch)
    for pool in pools.values():
        if pool.instance.arch != head.arch:
            context.fault(
                "RES315",
                f"the head node `{head.name}` is `{head.arch}`, and pool `{pool.name}` `{pool.instance.arch}`: they "
                "boot one operating system from images of one architecture",
                at,
                f"take a type of `{pool.instance.arch}`",
                source="aws-parallelcluster 3.16.1, InstanceArchitectureCompatibilityValidator",
            )
            return
    nodes = sum(pool.nodes for pool in pools.values())
    needed = min(nodes / 25 + 0.6, 16)
    if head.memory_mib < needed * 1024:
        context.fault(
            "RES315",
            f"the head node `{head.name}` has {head.memory_mib / 1024:g} GiB, and for {nodes} nodes Slurm needs "
            f"{needed:.1f}",
            at,
            "take a larger type, like `m7i.2xlarge`",
            source="aws-parallelcluster 3.16.1, HeadNodeMemorySizeValidator",
        )


def _check_without_accelerators(
    context: Context, instance: InstanceType, what: str, at: Route
) -> None:
    if instance.accelerators:
        context.fault(
            "RES423",
            f"{what} is `{instance.name}`, and no job gets its {instance.accelerators} accelerators: it is in no queue",
            at,
            "take a type without accelerators, like `m7i.2xlarge`",
            source="ParallelCluster user guide, HeadNode and LoginNodes: they are in no queue",
        )


def _check_login_type(context: Context, own: ParallelCluster, arch: str) -> None:
    """The login nodes boot the image of the head node."""
    if own.login_nodes is None:
        return
    at = AT / "loginNodes" / "instanceType"
    login = context.instance(own.login_nodes.instance_type, at)
    if login is not None:
        _check_without_accelerators(context, login, "each login node", at)
    if login is not None and login.arch != arch:
        context.fault(
            "RES315",
            f"the login nodes `{login.name}` are `{login.arch}`, and the head node is `{arch}`: they boot one "
            "operating system from an image of one architecture",
            at,
            f"take a type of `{arch}`",
            source="aws-parallelcluster 3.16.1, BaseClusterConfig.login_nodes_ami: the image of the head node",
        )


def _head_subnet(context: Context, own: ParallelCluster) -> str:
    """The subnet of the head node: one that the spec lists."""
    existing = NetworkSection.of(context.spec).network.existing
    assert existing is not None
    given = own.head_node.subnet
    if given is not None:
        _find_subnet(context, given, AT / "headNode" / "subnet")
    return context.settle(
        "cluster",
        "headNode.subnet",
        given,
        _nearest_subnet(context, existing).id,
        "the private subnet of the first pool's zone: people log in by Session Manager, and nothing leaves the zone",
        at=AT / "headNode" / "subnet",
    )


def _nearest_subnet(context: Context, existing: ExistingNetwork) -> Subnet:
    """A private subnet in the zone of the first pool, or else any other; pools with a fault are not among them."""
    zones = [zone for pool in context.once(resolve_pools).values() for zone in pool.zones]
    private = [subnet for zone in zones for subnet in existing.private.get(zone, ())]
    elsewhere = [subnet for subnets in existing.private.values() for subnet in subnets]
    return (*private, *elsewhere, *existing.subnets)[0]


def _find_subnet(context: Context, id: str, at: Route) -> None:
    """Report a subnet that the spec does not list."""
    existing = NetworkSection.of(context.spec).network.existing
    assert existing is not None
    subnets = {subnet.id: subnet for subnet in existing.subnets}
    context.find("RES316", "subnet", id, subnets, at)


def _idle_minutes(context: Context, own: ParallelCluster) -> int:
    """How long a node waits for its next job before it goes."""
    idle = own.scaledown_idletime
    at = AT / "scaledownIdletime"
    if idle is not None and idle.seconds % 60:
        context.fault(
            "RES391",
            f"`{idle}` is no whole number of minutes, as ParallelCluster counts",
            at,
            f"write `{idle.seconds // 60 + 1}m`",
            source="aws-parallelcluster 3.16.1, SlurmSettings.ScaledownIdletime",
        )
    return context.settle(
        "cluster",
        "scaledownIdletime",
        max(idle.seconds // 60, 1) if idle else None,
        _IDLE_MINUTES,
        "as long as a node takes to come, so that the next job of a row finds it",
        "aws-parallelcluster 3.16.1, SlurmSettings.ScaledownIdletime",
        at=at,
    )


def _settings(context: Context, own: ParallelCluster) -> dict[str, str | int]:
    """What slurm.conf has besides what ParallelCluster writes into it."""
    settings: dict[str, str | int] = {"KillWait": KILL_WAIT, "EnforcePartLimits": "ALL"}
    context.derive(
        "cluster",
        "customSlurmSettings.KillWait",
        KILL_WAIT,
        "seconds that a cancelled job has to save",
        "Slurm documentation, slurm.conf",
    )
    context.derive(
        "cluster",
        "customSlurmSettings.EnforcePartLimits",
        "ALL",
        "a job that its partition can never run is refused, and does not wait for ever",
        "Slurm documentation, slurm.conf",
    )
    if own.accounting is not None:
        settings |= _ACCOUNTED
    return settings | own.custom_slurm_settings


def _cluster(context: Context, own: ParallelCluster, subnet: str) -> SlurmCluster:
    root = own.head_node.root_volume
    at_root = AT / "headNode" / "rootVolume"
    check_root_volume(context, "the root volume of the head node", root, at_root)
    size = context.settle(
        "cluster",
        "headNode.rootVolume.size",
        root.size if root else None,
        Quantity.gib(_HEAD_GIB),
        "`/home` of all nodes is on it",
        at=at_root / "size",
    )
    minutes = _idle_minutes(context, own)
    cidr = context.settle(
        "cluster",
        "ssh.allowedCidr",
        own.ssh.allowed_cidr,
        _NOBODY,
        "nobody: ParallelCluster would open SSH to the whole internet; people log in by Session Manager",
        "aws-parallelcluster 3.16.1, HeadNodeSsh.allowed_ips: 0.0.0.0/0",
        at=AT / "ssh" / "allowedCidr",
    )
    times = own.timeouts
    return SlurmCluster(
        at=AT,
        name=context.name,
        region=context.spec.region,
        os=own.os,
        head_type=own.head_node.instance_type,
        head_subnet=subnet,
        head_gib=size.value // _GIB,
        head_iops=root.iops if root else None,
        head_throughput=root.throughput if root else None,
        key_name=own.ssh.key_name,
        allowed_cidr=cidr,
        security_groups=security_groups(context, own.head_node.security_groups),
        idle_minutes=minutes,
        settings=tuple(sorted(_settings(context, own).items())),
        database=_database(own),
        login=_login(context, own, subnet, cidr),
        policies=policies(context, own.policies),
        log_days=own.log_retention_days,
        detailed_monitoring=own.detailed_monitoring,
        tags=dict(context.spec.tags),
        scripts=scripts(context, own.head_node.custom_actions, "head-node"),
        head_minutes=_minutes(times.head_node_bootstrap) if times else None,
        node_minutes=_minutes(times.compute_node_bootstrap) if times else None,
        origins={
            "os": AT / "os",
            "head_type": AT / "headNode" / "instanceType",
            "head_subnet": AT / "headNode" / "subnet",
            "head_gib": AT / "headNode" / "rootVolume",
            "security_groups": AT / "headNode" / "securityGroups",
            "scripts": AT / "headNode" / "customActions",
            "head_minutes": AT / "timeouts" / "headNodeBootstrap",
            "node_minutes": AT / "timeouts" / "computeNodeBootstrap",
            "key_name": AT / "ssh" / "keyName",
            "allowed_cidr": AT / "ssh" / "allowedCidr",
            "idle_minutes": AT / "scaledownIdletime",
            "settings": AT / "customSlurmSettings",
            **{name: AT / "customSlurmSettings" / name for name in own.custom_slurm_settings},
            "database": AT / "accounting",
            "policies": AT / "policies",
            "log_days": AT / "logRetentionDays",
            "detailed_monitoring": AT / "detailedMonitoring",
            "region": SPEC / "region",
            "tags": SPEC / "tags",
        },
    )


def _minutes(duration: Duration | None) -> int | None:
    return duration.seconds // 60 if duration else None


def _login(context: Context, own: ParallelCluster, subnet: str, cidr: str) -> LoginPool | None:
    given = own.login_nodes
    if given is None:
        return None
    at = AT / "loginNodes"
    if given.subnet is not None:
        _find_subnet(context, given.subnet, at / "subnet")
    own_subnet = context.settle(
        "cluster",
        "loginNodes.subnet",
        given.subnet,
        subnet,
        "that of the head node, which has what the nodes mount",
        at=at / "subnet",
    )
    own_cidr = context.settle(
        "cluster",
        "loginNodes.allowedCidr",
        given.allowed_cidr,
        cidr,
        "`ssh.allowedCidr`: who reaches the head node",
        at=at / "allowedCidr",
    )
    minutes = context.settle(
        "cluster",
        "loginNodes.gracetimePeriod",
        given.gracetime_period.seconds // 60 if given.gracetime_period else None,
        _GRACE_MINUTES,
        "minutes, as long as ParallelCluster gives by itself",
        "aws-parallelcluster 3.16.1, LoginNodesPool.gracetime_period",
        at=at / "gracetimePeriod",
    )
    return LoginPool(
        at=at,
        count=given.count,
        instance_type=given.instance_type,
        subnet=own_subnet,
        allowed_cidr=own_cidr,
        grace_minutes=minutes,
        security_groups=security_groups(context),
        scripts=scripts(context, given.custom_actions),
        origins={
            "count": at / "count",
            "instance_type": at / "instanceType",
            "subnet": at / "subnet",
            "allowed_cidr": at / "allowedCidr",
            "grace_minutes": at / "gracetimePeriod",
            "scripts": at / "customActions",
        },
    )


def _database(own: ParallelCluster) -> AccountingDatabase | None:
    given = own.accounting
    if given is None:
        return None
    at = AT / "accounting"
    return AccountingDatabase(
        at=at,
        uri=given.uri,
        user=given.user_name,
        password=given.password_secret_arn,
        name=given.database_name,
    )


def _stack(context: Context, own: ParallelCluster, vpc: str) -> NodeStack:
    declared = SecretsSection.of(context.spec).secrets
    kept = [secret.secrets_manager.existing for secret in declared]
    keys = [secret.kms_key for secret in kept if secret.kms_key is not None]
    for index, secret in enumerate(kept):
        check_key(context, secret.kms_key, SPEC / "secrets" / index / "secretsManager" / "existing")
    budget = own.budget
    topics = context.once(by_receiver).values()
    return NodeStack(
        at=AT,
        cluster=context.name,
        account=context.spec.account,
        region=context.spec.region,
        partition=context.partition,
        vpc=vpc,
        bucket=scripts_bucket(context),
        export=nodes_export(context),
        policy=node_policy(context),
        secrets=tuple(dict.fromkeys(secret.name for secret in kept)),
        keys=tuple(dict.fromkeys(keys)),
        objects=own_objects(own),
        topics=tuple(dict.fromkeys(topic.topic_arn for topic in topics)),
        topic_keys=tuple(dict.fromkeys(topic.kms_key for topic in topics if topic.kms_key)),
        budget=budget.monthly if budget else None,
        emails=tuple(budget.emails) if budget else (),
        tags=dict(context.spec.tags),
        origins={"secrets": SPEC / "secrets", "budget": AT / "budget"},
    )
