"""Resolves the bootstrap: what must exist before Flux can work."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.catalog import iam
from trainyard.core.cloud.plan import ClusterFolder, TerraformState
from trainyard.core.delivery.folder import folder
from trainyard.core.delivery.spec import DeliverySection
from trainyard.core.pools.pools import Pool, placement_group, resolve_pools
from trainyard.core.storage.plan import MadeBucket
from trainyard.core.storage.storages import resolve_storage
from trainyard.eks import addons
from trainyard.eks.addons.addon import EKS
from trainyard.eks.addons.karpenter import interruption_queue
from trainyard.eks.bootstrap.needs import account
from trainyard.eks.bootstrap.spec import BootstrapSection
from trainyard.eks.cluster.account import Account
from trainyard.eks.cluster.plan import Bootstrap, PlacementGroup
from trainyard.eks.cluster.resolve import cluster, drivers, role_name
from trainyard.eks.delivery.resolve import flux_folder, git_secret
from trainyard.eks.nodes.karpenter import instance_profile, node_role
from trainyard.eks.settings.launcher import launcher_of
from trainyard.eks.settings.spec import ClusterSection
from trainyard.eks.teams.people import access_entries
from trainyard.language.places import Route
from trainyard.plan import PlanItem
from trainyard.plan.context import SPEC, Context, partition_of
from trainyard.plan.features import extension_modules
from trainyard.plan.shipped import lacking


def resolve(context: Context) -> Iterator[PlanItem]:
    """What people or CI run once, before Flux."""
    pools = context.once(resolve_pools)
    needs = account(context, pools, context.once(cluster))
    made = bootstrap(context, pools, needs)
    yield made
    yield ClusterFolder(path=made.path)
    if made.terraform is not None:
        yield made.terraform


def bootstrap(context: Context, pools: dict[str, Pool], needs: Account) -> Bootstrap:
    """Everything that must exist before Flux can work."""
    spec = context.spec
    flux = DeliverySection.of(context.spec).flux
    queue = interruption_queue(context.name)
    auto_mode = ClusterSection.of(spec).auto_mode is not None
    partition = context.partition
    region = spec.region
    account_id = spec.account
    region_zones = context.catalog.regions.get(region, ())
    return Bootstrap(
        at=SPEC,
        cluster=context.name,
        region=region,
        partition=partition,
        account=account_id,
        node_role=node_role(context),
        interruption_queue=queue,
        instance_profile=instance_profile(context),
        queue=iam.interruption_queue(partition, region, account_id, queue),
        controller_role=role_name(context, "karpenter"),
        controller_trust=_trust(context, "karpenter"),
        bucket_trust=_trust(context, "aws-mountpoint-s3-csi-driver"),
        controller_policies=iam.karpenter_policies(
            partition, region, account_id, context.name, queue, node_role=node_role(context)
        ),
        node_policies=_node_policies(context),
        interruption_rules=iam.interruption_rules(),
        bucket_role=role_name(context, "aws-mountpoint-s3-csi-driver"),
        reads_buckets=addons.addons()["aws-mountpoint-s3-csi-driver"].wanted(context),
        access=access_entries(context),
        drivers=drivers(context),
        zones=tuple(sorted(region_zones)),
        auto_mode=auto_mode,
        karpenter=addons.addons()["karpenter"].is_ours(context),
        own_nodes=next((launcher_of(pool).scripts for pool in pools.values()), ""),
        placement_groups=_placement_groups(context, pools),
        eksctl_version=context.release.version("eksctl"),
        flux_version=context.release.version("flux"),
        flux_source=flux.source,
        flux_secret=git_secret(context),
        flux_folder=flux_folder(context),
        repository=flux.url,
        branch=flux.branch,
        path=folder(context),
        needs=needs,
        terraform=_terraform(context),
        origins={
            "cluster": Route(("metadata", "name")),
            "drivers": SPEC / "storage",
            "terraform": SPEC / "bootstrap" / "tool",
        },
    )


def _node_policies(context: Context) -> tuple[str, ...]:
    """Those that upstream gives nodes, but for what an add-on has by a role of its own: every pod that reaches the
    metadata service of its node has the rights of the node (EKS user guide, cni-iam-role: AWS recommends a separate
    role for the VPC CNI)."""
    auto_mode = ClusterSection.of(context.spec).auto_mode is not None
    owner = "auto_mode" if auto_mode else "karpenter"
    of_addons: set[str] = set()
    for addon in addons.wanted(context, EKS):
        if addon.role is not None:
            of_addons.update(addon.role.policy_arns(context.partition))
    policies = iam.node_role_policies(context.partition, owner)
    return tuple(policy for policy in policies if policy not in of_addons)


def _check_state(context: Context, bucket: str) -> None:
    """Terraform reads its state before it makes anything, so no bucket that it makes can hold it."""
    for storage in context.once(resolve_storage).values():
        made = storage.made
        if isinstance(made, MadeBucket) and made.bucket == bucket:
            context.fault(
                "RES245",
                f"Terraform would make the bucket `{bucket}` of storage `{storage.spec.name}`, in which its state lies",
                SPEC / "bootstrap" / "state" / "bucket",
                "write another bucket for the state: `up.sh` makes it before Terraform runs",
            )


def _terraform(context: Context) -> TerraformState | None:
    chosen = BootstrapSection.of(context.spec).bootstrap
    if chosen is None or chosen.state is None:
        return None
    if chosen.tool not in extension_modules("stacks"):
        context.fault(
            "RES500",
            f"`{chosen.tool}` is written by the extension `{chosen.tool}`, which is not there",
            SPEC / "bootstrap" / "tool",
            f"{lacking(chosen.tool)}; or remove `bootstrap`: CloudFormation makes the stacks",
        )
        return None
    region = chosen.state.region or context.spec.region
    _check_state(context, chosen.state.bucket)
    if partition_of(region) != context.partition:
        context.fault(
            "RES280",
            f"the state lies in `{region}`, and the cluster in `{context.spec.region}`, of another partition",
            SPEC / "bootstrap" / "state" / "region",
            "write a Region of the cluster's partition, or remove it: no login is for both",
            source="IAM user guide, reference-arns: partitions",
        )
    return TerraformState(
        at=SPEC / "bootstrap" / "tool",
        cluster=context.name,
        region=context.spec.region,
        bucket=chosen.state.bucket,
        bucket_region=region,
    )


def _placement_groups(context: Context, pools: dict[str, Pool]) -> tuple[PlacementGroup, ...]:
    groups = []
    for pool in pools.values():
        name = placement_group(context.name, pool)
        if pool.placement and name:
            at = pool.at / "placement"
            strategy = pool.placement
            groups.append(PlacementGroup(at=at, name=name, pool=pool.name, strategy=strategy))
    return tuple(groups)


def _trust(context: Context, component: str) -> dict[str, object]:
    """Who takes on the role of an add-on: its own service account."""
    role = addons.addons()[component].role
    assert role is not None, "only asked of add-ons that have one"
    return iam.pod_identity_trust(context.cluster_arn, role.namespace, role.service_account)
