"""What surrounds jobs: namespaces, ceilings, access, network policies, priorities."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from trainyard.core.network.spec import NetworkSection
from trainyard.core.pods.plan import GPU, NEURON
from trainyard.core.pools.pools import resolve_pools
from trainyard.core.queues.namespaces import namespace_routes
from trainyard.core.storage.spec import StorageSection
from trainyard.core.teams.spec import NamespaceQuota, NamespacesSection
from trainyard.eks import addons
from trainyard.eks.addons.addon import HELM
from trainyard.eks.flux.accounts import READ, deliverer, deliverer_in, may_make, may_read
from trainyard.eks.flux.plan import HealthExpression
from trainyard.eks.flux.stages import stage
from trainyard.eks.flux.terminating import of_node_classes, of_volumes
from trainyard.eks.jobs.kind import CalledBy, JobKind
from trainyard.eks.jobs.kinds import kinds, kinds_of_eks
from trainyard.eks.jobs.plan import POD_PRIORITY
from trainyard.eks.jobs.wanted import used
from trainyard.eks.kueue.resolve import TRAINING
from trainyard.eks.rbac.plan import Access, PolicyRule, ServiceAccount, Subject
from trainyard.eks.runs.pod import SERVICE_ACCOUNT
from trainyard.eks.secrets.plan import API as SECRETS_API
from trainyard.eks.secrets.plan import RESOURCES as SECRETS
from trainyard.eks.settings.spec import ClusterSection
from trainyard.eks.teams.people import groups_of
from trainyard.eks.teams.plan import (
    Namespace,
    NetworkPolicy,
    NetworkRule,
    Peer,
    PodPriority,
    ResourceQuota,
)
from trainyard.language.places import Route
from trainyard.language.units import Quantity
from trainyard.plan import PlanItem
from trainyard.plan.context import SPEC, Context

IMDS = "169.254.169.254/32"
POD_IDENTITY = "169.254.170.23/32"
NAMESPACE = "kubernetes.io/metadata.name"
"""The label of every namespace that has its name."""
_SYSTEM = {"kube-system", "kube-public", "kube-node-lease", "flux-system"}


def resolve(context: Context) -> Iterator[PlanItem]:
    """What surrounds the jobs of each namespace, and the stage that carries it."""
    routes = context.once(namespace_routes)
    _check_system(context, routes)
    yield from namespaces(routes, _levels(context), context.version("kubernetes"))
    yield from resource_quotas(context)
    yield from service_accounts(routes)
    yield from access(context)
    more = tuple(_rights_of_platform(context))
    yield from deliverer_in(routes, "jobs", *_JOBS_RIGHTS, *more)
    yield from deliverer("platform", *_PLATFORM_RIGHTS, *more)
    chained = NetworkSection.of(context.spec).network.cilium is not None
    yield from network_policies(routes, chained=chained, asking=tuple(_asking(context)))
    yield from pod_priorities()
    health = tuple(_health(context))
    yield stage(context, "platform", "controllers", account="platform", health=health)


def _health(context: Context) -> Iterator[HealthExpression]:
    if "karpenter" not in context.platform.without:
        yield from of_node_classes(auto=ClusterSection.of(context.spec).auto_mode is not None)
    if StorageSection.of(context.spec).storage:
        yield from of_volumes()


def _check_system(context: Context, routes: Mapping[str, Route]) -> None:
    """Teams have namespaces of their own: those of the system take no jobs."""
    of_system = set(_SYSTEM)
    for addon in addons.wanted(context, HELM):
        of_system.add(context.release.chart(addon.component).namespace)
    for name, route in routes.items():
        if name in of_system:
            context.fault(
                "RES021",
                f"namespace `{name}` belongs to the system",
                route,
                "take a namespace of the team's own: training namespaces get a network policy and quotas that "
                "would stop what runs there",
            )


def _levels(context: Context) -> dict[str, str]:
    """The Pod Security Standard of each namespace that the spec declares."""
    declared = NamespacesSection.of(context.spec).namespaces
    return {namespace.name: namespace.pod_security for namespace in declared}


def namespaces(
    routes: dict[str, Route], levels: Mapping[str, str], kubernetes: str
) -> Iterator[Namespace]:
    """The namespaces. Flux never prunes them: that would delete every job and claim in them."""
    for name, at in routes.items():
        # Training pods need nothing that the `baseline` Pod Security Standard forbids.
        level = levels.get(name, "baseline")
        labels = {TRAINING: "true", **_pod_security(level, kubernetes)}
        yield Namespace(at=at, name=name, labels=labels, prune=False)


def privileged_namespace(context: Context, name: str, at: Route) -> Namespace:
    """A namespace of agents that need the network, the processes or the folders of their node, which the level
    `privileged` alone allows."""
    labels = _pod_security("privileged", context.version("kubernetes"))
    return Namespace(at=at, name=name, labels=labels, prune=False)


def _pod_security(level: str, kubernetes: str) -> dict[str, str]:
    """The labels of a level, as it is in one version: an upgrade of the cluster brings no stricter one by itself.

    `enforce` refuses pods alone; `warn` tells who applies a Job that its pods will be refused, and `audit` puts it
    into the audit log (kubernetes.io, pod-security-admission).
    """
    labels = {}
    for mode in ("enforce", "warn", "audit"):
        labels[f"pod-security.kubernetes.io/{mode}"] = level
        labels[f"pod-security.kubernetes.io/{mode}-version"] = f"v{kubernetes}"
    return labels


def resource_quotas(context: Context) -> Iterator[ResourceQuota]:
    """The ceilings that the spec sets. None is derived: a NodePool's limits bound what all pods get, and teams may make
    no pods but by jobs, which Kueue counts (see ``access``)."""
    declared = NamespacesSection.of(context.spec).namespaces
    devices = _devices(context)
    for index, namespace in enumerate(declared):
        hard = None
        at = SPEC / "namespaces" / index / "quota"
        if namespace.quota is not None:
            hard = _hard(namespace.quota, devices)
        if hard:
            yield ResourceQuota(
                at=at,
                name="training",
                namespace=namespace.name,
                hard=hard,
                origins={f"hard.{name}": at / _KEYS.get(name, "accelerators") for name in hard},
            )


def _devices(context: Context) -> tuple[str, ...]:
    """The resources that are accelerators: whole ones, and the shares of them that pools have."""
    shares = (pool.share.resource for pool in context.once(resolve_pools).values())
    return tuple(dict.fromkeys((GPU, NEURON, *filter(None, shares))))


_KEYS = {"requests.cpu": "cpu", "requests.memory": "memory", "pods": "pods"}
"""What a ResourceQuota bounds, by the key of the spec that says it; all else are accelerators."""


def _hard(quota: NamespaceQuota, devices: Sequence[str]) -> dict[str, Quantity]:
    hard: dict[str, Quantity] = {}
    if quota.cpu is not None:
        hard["requests.cpu"] = quota.cpu
    if quota.memory is not None:
        hard["requests.memory"] = quota.memory
    if quota.accelerators is not None:
        for resource in devices:
            hard[f"requests.{resource}"] = Quantity.of(quota.accelerators)
    if quota.pods is not None:
        hard["pods"] = Quantity.of(quota.pods)
    return hard


def service_accounts(routes: dict[str, Route]) -> tuple[ServiceAccount, ...]:
    """The account of training pods in each namespace."""
    return tuple(
        ServiceAccount(at=at, name=SERVICE_ACCOUNT, namespace=name) for name, at in routes.items()
    )


def access(context: Context) -> Iterator[Access]:
    """Read access to a team's own jobs and logs, and to what its jobs wait for, for the groups of its namespace. Nobody
    may make pods: jobs come by git, and Kueue counts them."""
    declared = NamespacesSection.of(context.spec).namespaces
    for index, namespace in enumerate(declared):
        groups = groups_of(namespace)
        if groups:
            yield Access(
                at=SPEC / "namespaces" / index / "group",
                name="training-users",
                namespace=namespace.name,
                rules=(*_RULES, *_more_rules(context)),
                subjects=tuple(Subject("Group", group) for group in groups),
            )
            # One for each namespace, so that an edit of one writes to no other's.
            yield Access(
                at=SPEC / "namespaces" / index / "group",
                name=f"training-users-{namespace.name}",
                namespace="",
                rules=_CLUSTER_RULES,
                subjects=tuple(Subject("Group", group) for group in groups),
            )


_RULES = (
    PolicyRule(("trainer.kubeflow.org",), ("trainjobs",), (*READ, "delete")),
    may_read("jobset.x-k8s.io", "jobsets"),
    # As Kueue's own role of a batch user, which sees Workloads and changes none (kueue v0.19.2,
    # config/components/rbac/workload_viewer_role.yaml): who may patch one may change its priority.
    may_read("kueue.x-k8s.io", "workloads", "localqueues"),
    may_read("", "pods", "pods/log", "events", "configmaps"),
    PolicyRule(("",), ("pods/exec", "pods/portforward"), ("create",)),
)
_CLUSTER_RULES = (
    may_read("kueue.x-k8s.io", "clusterqueues", "resourceflavors", "workloadpriorityclasses"),
    may_read("trainer.kubeflow.org", "clustertrainingruntimes"),
    may_read("", "nodes"),
    may_read("karpenter.sh", "nodeclaims", "nodepools"),
)


def _more_rules(context: Context) -> Iterator[PolicyRule]:
    """Access to jobs of other kinds than TrainJob, where the spec has some."""
    groups = {kind.group for kind in used(context)}
    for group, resources in _resources(kinds()).items():
        if group in groups and group != _TRAINER:
            yield PolicyRule((group,), resources, (*READ, "delete"))


def _resources(known: Mapping[str, JobKind]) -> dict[str, tuple[str, ...]]:
    """The resources that run jobs of some kinds, by API group."""
    resources: dict[str, tuple[str, ...]] = {}
    for kind in known.values():
        names = (*resources.get(kind.group, ()), kind.plural)
        resources[kind.group] = tuple(sorted(names))
    return resources


def _rights_of_platform(context: Context) -> Iterator[PolicyRule]:
    """Rights to make jobs of kinds that not every cluster of EKS runs."""
    for kind in used(context):
        if kind.name not in kinds_of_eks():
            yield may_make(kind.group, kind.plural)


_TRAINER = "trainer.kubeflow.org"
_JOBS_RIGHTS = (
    *(may_make(group, *resources) for group, resources in _resources(kinds_of_eks()).items()),
    may_make("", "configmaps"),
)
_PLATFORM_RIGHTS = (
    may_make(
        "",
        "namespaces",
        "configmaps",
        "persistentvolumes",
        "persistentvolumeclaims",
        "resourcequotas",
        "serviceaccounts",
    ),
    may_make("eks.amazonaws.com", "nodeclasses"),
    may_make("karpenter.k8s.aws", "ec2nodeclasses"),
    may_make("karpenter.sh", "nodepools", "nodeoverlays"),
    may_make("networking.k8s.io", "networkpolicies"),
    may_make("policy", "poddisruptionbudgets"),
    may_make(
        "rbac.authorization.k8s.io", "clusterroles", "clusterrolebindings", "roles", "rolebindings"
    ),
    may_make("scheduling.k8s.io", "priorityclasses"),
    may_make("storage.k8s.io", "storageclasses"),
    # What it hands out. A Role that is applied together with its binding is not there yet when the API server is asked
    # whether it may be bound (fluxcd/pkg ssa, ApplyAll tries all objects before it writes one).
    PolicyRule(
        ("rbac.authorization.k8s.io",),
        ("roles",),
        ("bind",),
        ("training-users", "trainyard-jobs", "trainyard-secrets"),
    ),
    *_RULES,
    *_CLUSTER_RULES,
    *_JOBS_RIGHTS,
    may_make(SECRETS_API, *SECRETS),
)


def _asking(context: Context) -> Iterator[NetworkRule]:
    """Who reaches the pods of a job from outside: the operator of Ray starts the command at the head's dashboard, and
    asks it how far that is (kuberay v1.6.2, rayjob_controller.go, submissionMode HTTPMode); that of HyperPod asks the
    agent in each pod; Prometheus scrapes."""
    for kind in used(context):
        caller = kind.called_by
        if caller is None:
            continue
        yield NetworkRule(peers=(_caller(context, caller),), ports=(("TCP", caller.port),))
    for addon in addons.installed(context):
        pods = addon.asks_jobs(context)
        if pods:
            namespace = context.release.chart(addon.component).namespace
            yield NetworkRule(peers=(Peer(namespaces={NAMESPACE: namespace}, pods=pods),))


def _caller(context: Context, caller: CalledBy) -> Peer:
    """The pods of a chart by their label, or all of a namespace."""
    if caller.namespace:
        return Peer(namespaces={NAMESPACE: caller.namespace})
    namespace = context.release.chart(caller.component).namespace
    return Peer(
        namespaces={NAMESPACE: namespace}, pods={"app.kubernetes.io/name": caller.component}
    )


def network_policies(
    routes: dict[str, Route], *, chained: bool = False, asking: tuple[NetworkRule, ...] = ()
) -> Iterator[NetworkPolicy]:
    """Ranks reach each other and the outside, not the node's credentials; nobody reaches them but those of ``asking``.

    EFA traffic bypasses the kernel and so no NetworkPolicy applies to it. ``chained``: Cilium enforces them, for which
    an address block holds no pod (cilium v1.20.2, network/kubernetes/policy.rst): so pods are named, DNS among them.
    """
    ranks = NetworkRule(peers=(Peer(pods={}),))
    pods = NetworkRule(peers=(Peer(namespaces={}),))
    any_host = Peer(cidr="0.0.0.0/0", excluded=(IMDS,))
    outside = NetworkRule(peers=(any_host,))
    for name, at in routes.items():
        yield NetworkPolicy(
            at=at,
            name="training",
            namespace=name,
            ingress=(ranks, *asking),
            egress=(ranks, outside, pods) if chained else (ranks, outside),
        )


def pod_priorities() -> tuple[PodPriority, ...]:
    """Training pods never preempt on the node: Kueue decides who runs.

    The least value above other pods' 0, since it is also the priority in the queue of a job that names none
    (Kueue v0.19.2, jobframework ExtractPriority): what the spec calls a priority is above it.
    """
    return (
        PodPriority(
            at=SPEC / "jobs",
            name=POD_PRIORITY,
            value=1,
            preempts=False,
            description="training pods: ahead of best-effort pods, never preempting; Kueue orders them",
        ),
    )
