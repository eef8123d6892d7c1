"""Resolves the cluster: eksctl's configuration, and the AWS resources that it depends on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from operator import attrgetter
from typing import Any

from trainyard.catalog import addons as roles
from trainyard.catalog.ami_families import AL2023, families
from trainyard.core.teams.spec import NamespacesSection
from trainyard.eks import addons
from trainyard.eks.addons.addon import EKS, HELM, MANIFESTS, OWN, AddOn, Setting
from trainyard.eks.cluster.auto_mode import POOLS, check_auto_mode
from trainyard.eks.cluster.plan import AccessEntry, Addon, Cluster, PodIdentity
from trainyard.eks.delivery.resolve import setting
from trainyard.eks.network.resolve import network
from trainyard.eks.nodes.karpenter import node_role
from trainyard.eks.nodes.plan import NodeGroup
from trainyard.eks.overrides.values import overridden
from trainyard.eks.release.ami import ami_build
from trainyard.eks.settings.launcher import SYSTEM
from trainyard.eks.settings.spec import AT_EKS, AddonSettings, ClusterSection
from trainyard.language.places import Route
from trainyard.plan import PlanItem
from trainyard.plan.context import SPEC, Context

# Principals with access to the cluster that AWS would refuse.


def check_principals(context: Context) -> None:
    """Principals of another partition, and the one that is the nodes' own."""
    for at, arn in _principals(context):
        partition = arn.split(":")[1]
        if partition != context.partition:
            context.fault(
                "RES043",
                f"`{arn}` is of partition `{partition}`, "
                f"and region `{context.spec.region}` of "
                f"`{context.partition}`",
                at,
                f"write a principal of it: `arn:{context.partition}:iam::...`",
                source="EKS API, CreateAccessEntry",
            )
        elif arn == node_role_arn(context):
            context.fault(
                "RES043",
                f"`{arn}` is the role of the nodes, which has an access entry of its own",
                at,
                "name the role or user of a person: EKS takes one access entry a principal",
                source="EKS API, CreateAccessEntry",
            )


def _principals(context: Context) -> Iterator[tuple[Route, str]]:
    """The ARNs of administrators and of namespaces, each with its place."""
    admins = ClusterSection.of(context.spec).eks.admins
    for index, arn in enumerate(admins):
        yield AT_EKS / "admins" / index, arn
    namespaces = NamespacesSection.of(context.spec).namespaces
    for place, namespace in enumerate(namespaces):
        here = SPEC / "namespaces" / place / "principals"
        for index, arn in enumerate(namespace.principals):
            yield here / index, arn


def node_role_arn(context: Context) -> str:
    """The ARN of the IAM role of the nodes."""
    account = context.spec.account
    return f"arn:{context.partition}:iam::{account}:role/{node_role(context)}"


def resolve(context: Context) -> Iterator[PlanItem]:
    """The cluster, as eksctl creates it."""
    check_principals(context)
    if ClusterSection.of(context.spec).auto_mode is not None:
        check_auto_mode(context)
    yield context.once(cluster)


def cluster(context: Context) -> Cluster:
    """eksctl's ClusterConfig."""
    spec = context.spec
    whole = Cluster(
        at=SPEC,
        name=context.name,
        region=spec.region,
        kubernetes=context.version("kubernetes"),
        network=context.once(network),
        origins={
            "region": SPEC / "region",
            "kubernetes": AT_EKS / "version",
            "network": SPEC / "network",
            "name": SPEC,
            "access": AT_EKS / "admins",
            "addons": AT_EKS / "addons",
            "auto_mode": AT_EKS / "autoMode",
            "log_days": AT_EKS / "controlPlaneLogDays",
        },
        tags={**spec.tags, "karpenter.sh/discovery": context.name},
        addons=_addons(context.once(setting)),
        auto_mode=False,
        log_types=("api", "audit", "authenticator"),
        log_days=_log_days(context),
    )
    if ClusterSection.of(spec).auto_mode is not None:
        return _with_auto_mode(context, whole)
    return replace(
        whole,
        pod_identities=_identities(context),
        access=_node_access(context),
        node_groups=(_system(context),),
    )


def _log_days(context: Context) -> int:
    """How long CloudWatch keeps what the control plane writes: for ever, unless somebody says how long."""
    return context.settle(
        "cluster",
        "controlPlaneLogDays",
        ClusterSection.of(context.spec).eks.control_plane_log_days,
        90,
        "as long as CloudTrail shows the calls of an account; without it CloudWatch keeps them, and is paid, for ever",
        "CloudTrail user guide, view-cloudtrail-events; CloudWatch Logs API, PutRetentionPolicy",
        at=AT_EKS / "controlPlaneLogDays",
    )


def _node_access(context: Context) -> tuple[AccessEntry, ...]:
    """The entry of the nodes that Karpenter launches; those of a platform that stands on EKS get theirs by it."""
    if not addons.addons()["karpenter"].is_ours(context):
        return ()
    return (AccessEntry(node_role_arn(context), "EC2_LINUX"),)


def _with_auto_mode(context: Context, whole: Cluster) -> Cluster:
    """A cluster whose nodes EKS runs. EKS makes the access entry of the role that the node pools of its own have (EKS
    user guide, create-node-class: considerations), and all other nodes have that role as well."""
    return replace(whole, auto_mode=True, auto_pools=POOLS, auto_node_role=node_role_arn(context))


def _addons(setting: Setting) -> tuple[Addon, ...]:
    """Those of every cluster, with what the spec changes of them, and those of its own."""
    context = setting.context
    own = ClusterSection.of(context.spec).eks.addons
    given = own.items()
    values = {name: settings.values for name, settings in given}
    wanted = addons.wanted(context, EKS)
    ours = {addon.component: addon for addon in wanted}
    known = addons.addons().items()
    charts = {name for name, addon in known if addon.by in (HELM, MANIFESTS)}
    installed = []
    for name, addon in ours.items():
        own_values = values.get(name, {})
        installed.append(_addon(setting, addon, own_values))
    for name, build in context.platform.brings.items():
        if name not in own:
            installed.append(Addon(name, build, {}))
    for name, settings in own.items():
        if name in charts:
            context.fault(
                "RES070",
                f"add-on `{name}` would be installed twice: Flux installs its chart",
                AT_EKS / "addons" / name,
                "remove it: one owner for each controller",
                key=True,
            )
        elif name not in ours:
            installed.append(_own_addon(setting, name, settings))
        elif settings.role is not None:
            context.fault(
                "RES223",
                f"add-on `{name}` has a role of Trainyard's",
                AT_EKS / "addons" / name / "role",
                "remove it: Trainyard sets the roles of the add-ons of every cluster",
            )
    return tuple(installed)


def _own_addon(setting: Setting, name: str, settings: AddonSettings) -> Addon:
    """An add-on that only this cluster has. With EKS Auto Mode eksctl binds no roles of add-ons (see ``drivers``)."""
    context = setting.context
    values: Mapping[str, Any] = settings.values
    known = addons.addons().get(name)
    if known is not None and known.by == OWN:
        at = AT_EKS / "addons" / name / "values"
        values, _ = overridden(context, name, known.values(setting), settings.values, at)
    addon = Addon(name, context.build(name), values)
    identity = context.once(own_identities).get(name)
    if identity is None or ClusterSection.of(context.spec).auto_mode is not None:
        return addon
    return replace(
        addon,
        service_account=(identity.namespace, identity.service_account),
        policy_arns=identity.policy_arns,
    )


def own_identities(context: Context) -> dict[str, PodIdentity]:
    """The roles of add-ons that only this cluster has, by the name of the add-on."""
    ours = addons.addons()
    identities = {}
    for name, settings in ClusterSection.of(context.spec).eks.addons.items():
        if name in ours and ours[name].by != OWN and settings.role is None:
            identity = _documented(context, ours[name])
        else:
            identity = _own_identity(context, name, settings)
        if identity is not None:
            identities[name] = identity
    return identities


def _documented(context: Context, addon: AddOn) -> PodIdentity | None:
    """The role of an add-on of ours, which the spec asks for where nothing else does."""
    role = addon.role
    if addon.runs(context) or role is None or not role.managed:
        return None
    return PodIdentity(role.namespace, role.service_account, role.policy_arns(context.partition))


def _own_identity(context: Context, name: str, settings: AddonSettings) -> PodIdentity | None:
    """The role of an add-on that only this cluster has: as the spec says it, or as AWS documents it."""
    own = settings.role
    if own is not None:
        if not own.policies:
            return None
        for index, arn in enumerate(own.policies):
            owner = arn.split(":")[4]
            if owner not in ("aws", context.spec.account):
                context.fault(
                    "RES286",
                    f"`{arn}` is a policy of account {owner}, and the role one of {context.spec.account}",
                    AT_EKS / "addons" / name / "role" / "policies" / index,
                    f"make the policy in account {context.spec.account}, and write its ARN",
                    source="IAM API, AttachRolePolicy: managed policies of AWS or of the own account",
                )
        return PodIdentity(own.namespace, own.service_account, tuple(own.policies))
    if not roles.is_known(name):
        context.doubt(
            "RES222",
            f"add-on `{name}` may need rights in AWS, and no role is known for it",
            AT_EKS / "addons" / name,
            f"ask `aws eks describe-addon-configuration --addon-name {name} --addon-version VERSION --query "
            "podIdentityConfiguration`, and write `role:` with its service account and policies (`[]` for none)",
            source="EKS API, AddonPodIdentityConfiguration",
        )
        return None
    role = roles.role_of(name)
    if role is None:
        return None
    context.derive(
        "cluster",
        f"addons.{name}.role",
        ", ".join(role.policies),
        f"service account {role.namespace}/{role.service_account}: eksctl gives an add-on only the rights listed",
        roles.source(),
        follows=AT_EKS / "addons" / name,
    )
    arns = (f"arn:{context.partition}:iam::aws:policy/{policy}" for policy in role.policies)
    return PodIdentity(role.namespace, role.service_account, tuple(arns))


def _addon(setting: Setting, addon: AddOn, own: Mapping[str, Any]) -> Addon:
    context, name = setting.context, addon.component
    at = AT_EKS / "addons" / name / "values"
    build = context.build(name)
    derived = addon.values(setting)
    values, _ = overridden(context, name, derived, own, at)
    role = addon.role
    if role is None:
        return Addon(name, build, values)
    account = (role.namespace, role.service_account)
    arns = role.policy_arns(context.partition)
    rights = tuple(role.rights(context))
    return Addon(name, build, values, account, arns, rights)


def _identities(context: Context) -> tuple[PodIdentity, ...]:
    """Those of roles that the bootstrap makes, where the add-on is wanted: without a bucket nothing reads one."""
    prefix = f"arn:{context.partition}:iam::{context.spec.account}:role/"
    identities = []
    for addon in addons.addons().values():
        role = addon.role
        if role is None or not role.own:
            continue
        if addon.is_ours(context) and addon.wanted(context):
            arn = prefix + role.named(context.name)
            identities.append(PodIdentity(role.namespace, role.service_account, role_arn=arn))
    return tuple(sorted(identities, key=attrgetter("namespace", "service_account")))


def drivers(context: Context) -> tuple[PodIdentity, ...]:
    """Those of charts that only some clusters have. With EKS Auto Mode also those that eksctl else binds: it wants the
    add-on of the pod identity agent for that, which Auto Mode has without one (v0.230.0, cmdutils/configfile.go)."""
    identities: list[PodIdentity] = []
    if ClusterSection.of(context.spec).auto_mode is not None:
        identities += _identities(context)
        identities += context.once(own_identities).values()
    for addon in addons.wanted(context, HELM):
        role = addon.role
        if role is not None and role.managed:
            arns = role.policy_arns(context.partition)
            identities.append(PodIdentity(role.namespace, role.service_account, arns))
    return tuple(identities)


def role_name(context: Context, component: str) -> str:
    """The name of the role that the bootstrap makes for an add-on."""
    role = addons.addons()[component].role
    assert role is not None, "only asked of add-ons that have one"
    return role.named(context.name)


def _system(context: Context) -> NodeGroup:
    at, system = (AT_EKS / "systemNodes", ClusterSection.of(context.spec).eks.system_nodes)
    instance = context.instance(system.instance_type, at / "instanceType")
    if instance is not None and instance.accelerators:
        context.fault(
            "RES018",
            f"system nodes of `{instance.name}` have {instance.accelerators} accelerators",
            at / "instanceType",
            "take a general type, like `m7i.2xlarge`",
        )
    return NodeGroup(
        at=at,
        name=SYSTEM,
        instance_types=(system.instance_type,),
        min_size=system.nodes,
        max_size=system.nodes + 1,
        desired=system.nodes,
        ami_family=families()[AL2023].eksctl,
        ami_release=_ami_release(context),
        private=True,
        volume=100,
        encrypted=True,
        labels={"trainyard.dev/role": SYSTEM},
        repair=True,
        origins={"instance_types": at / "instanceType", "desired": at / "nodes"},
    )


def _ami_release(context: Context) -> str | None:
    """The release of the system nodes' image, as EKS names it: the one that Karpenter's nodes boot, if it is AL2023."""
    alias, build = ami_build(context)
    context.derive(
        "cluster",
        "system.ami",
        build,
        f"the release of {alias}: unpinned, two nodes may boot two images",
        context.release.components["ami"].builds_source,
    )
    return build
