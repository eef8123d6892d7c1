"""What a pool may launch: the instance types that its requirements leave, and the labels of its nodes.

Label keys and values: karpenter-provider-aws v1.14.1 pkg/apis/v1/labels.go and
pkg/providers/instancetype/types.go; EKS Auto Mode has the same under ``eks.amazonaws.com``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product
from operator import ge, gt, le, lt

from trainyard.catalog import Catalog, InstanceType
from trainyard.catalog.instance import NEURON_RESOURCE, NVIDIA_RESOURCE
from trainyard.core.pools.plan import FixedPool, Pool
from trainyard.eks.nodes.plan import NodeGroup, NodePool
from trainyard.language.places import Route
from trainyard.language.units import Quantity
from trainyard.output.manifest import placeholder
from trainyard.plan.scheduling import (
    ARCH,
    CAPACITY_TYPE,
    INSTANCE_TYPE,
    NODEPOOL_LABEL,
    ZONE,
    Requirement,
)

KARPENTER, AUTO_MODE = "karpenter.k8s.aws/", "eks.amazonaws.com/"
ACCELERATED = frozenset({"p", "g", "gr", "trn", "inf", "dl"})
"""Instance categories of which every type has accelerators."""

IN_SMALL_LETTERS = frozenset(
    f"{domain}instance-{name}"
    for domain in (KARPENTER, AUTO_MODE)
    for name in (
        *("category", "family", "size", "cpu-manufacturer", "gpu-name", "gpu-manufacturer"),
        *("accelerator-name", "accelerator-manufacturer"),
    )
)
"""Labels whose values have no capitals, whatever EC2 calls it."""

# Label domains that kubelet, Karpenter, EKS, drivers or feature discovery write by themselves: what a pool does not
# say about them is unknown. Every other label is on a node only if its pool sets it.
_WRITTEN_BY_OTHERS = (
    "kubernetes.io",
    "k8s.io",
    "karpenter.sh",
    "k8s.aws",
    "amazonaws.com",
    "nvidia.com",
    "intel.com",
    "eksctl.io",
    "csi.aws.com",
    "aws.amazon.com",
    "cloud.google.com",
    "azure.com",
)
_SCHEME = r"([a-z]+)(?:-[0-9]+tb)?([0-9]+)"
# Families of these accelerators are all in the catalog; of others (V100: p3) only some are.
_PARTLY_KNOWN = frozenset({"v100", "k80", "m60"})


def as_pool(group: NodeGroup) -> FixedPool:
    """A node group as a pool, with the labels that EKS and eksctl give its nodes (eksctl 0.230)."""
    # Without maxSize eksctl takes the desired capacity. LIM012 reports one that is above maxSize.
    bounds = (group.max_size, group.desired)
    sizes = [size for size in bounds if size is not None]
    limits = {}
    if sizes:
        limits["nodes"] = Quantity.of(max(sizes))
    requirements = []
    if group.instance_types:
        requirements.append(Requirement(INSTANCE_TYPE, "In", group.instance_types))
    if group.zones:
        requirements.append(Requirement(ZONE, "In", group.zones))
    labels = {
        **group.labels,
        "alpha.eksctl.io/nodegroup-name": group.name,
        f"{AUTO_MODE}nodegroup": group.name,
    }
    bound = "max_size" if group.max_size is not None else "desired"
    origins = {
        **group.origins,
        "limits": group.where(bound),
        "capacity_types": group.where("reservation"),
        "reservations": group.where("reservation"),
        "root": group.where("volume"),
    }
    return FixedPool(
        at=group.at,
        origins=origins,
        name=group.name,
        labels=labels,
        taints=group.taints,
        requirements=tuple(requirements),
        limits=limits,
        efa=group.efa,
        spot=group.spot,
        block=group.capacity_block,
        reservations=(group.reservation,) if group.reservation else (),
        placement_group=group.placement_group,
        least=group.min_size,
        own_kubelet=group.own_kubelet,
        ami_family=group.ami_family,
        root=_root(group),
    )


def _root(group: NodeGroup) -> Quantity | None:
    if group.volume is None or group.local_storage:
        return None
    return Quantity.gib(group.volume)


def admits(requirement: Requirement, value: str | None) -> bool:
    """Whether a requirement lets a label value pass; ``None`` is no such label (karpenter scheduling/requirement)."""
    values = requirement.values
    match requirement.operator:
        case "In":
            return value in values or any(map(placeholder, values))
        case "NotIn":
            return value not in values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt" | "Lt" | "Gte" | "Lte" as operator:
            return value is not None and _compare(operator, value, values)
    return True


def _compare(operator: str, value: str, values: tuple[str, ...]) -> bool:
    if not values or not values[0].isdecimal():
        return True
    if not value.isdecimal():
        return True
    compare = _COMPARISONS[operator]
    return compare(int(value), int(values[0]))


_COMPARISONS: dict[str, Callable[[int, int], bool]] = {"Gt": gt, "Lt": lt, "Gte": ge, "Lte": le}


Fact = Callable[[InstanceType], str | None]


def _accelerator_name(instance: InstanceType) -> str | None:
    name = instance.accelerator
    if name:
        return name.lower().replace(" ", "-")
    return None


def _family_part(part: int) -> Fact:
    """A part of the name of a family: 1 is the category, 2 the generation."""

    def read(instance: InstanceType) -> str | None:
        matched = re.match(_SCHEME, instance.family)
        return matched[part] if matched else None

    return read


def _of_device(resource: str, fact: Fact) -> Fact:
    """A fact of the types whose accelerators are this resource."""

    def read(instance: InstanceType) -> str | None:
        if instance.accelerator_resource != resource:
            return None
        return fact(instance)

    return read


_INSTANCE: dict[str, Fact] = {
    "family": lambda instance: instance.family,
    "size": lambda instance: instance.size,
    "category": _family_part(1),
    "generation": _family_part(2),
    "cpu": lambda instance: str(instance.vcpus),
    "memory": lambda instance: str(instance.memory_mib),
    "gpu-count": _of_device(NVIDIA_RESOURCE, lambda instance: str(instance.gpus)),
    "gpu-name": _of_device(NVIDIA_RESOURCE, _accelerator_name),
    "gpu-manufacturer": _of_device(NVIDIA_RESOURCE, lambda _: "nvidia"),
    "gpu-memory": _of_device(
        NVIDIA_RESOURCE, lambda instance: str(instance.accelerator_memory_mib)
    ),
    "accelerator-count": _of_device(NEURON_RESOURCE, lambda instance: str(instance.accelerators)),
    "accelerator-name": _of_device(NEURON_RESOURCE, _accelerator_name),
    "accelerator-manufacturer": _of_device(NEURON_RESOURCE, lambda _: "aws"),
}
FACTS: dict[str, Fact] = {
    INSTANCE_TYPE: lambda instance: instance.name,
    ARCH: lambda instance: instance.arch,
    **{
        f"{domain}instance-{name}": fact
        for domain in (KARPENTER, AUTO_MODE)
        for name, fact in _INSTANCE.items()
    },
}
"""What the catalog says of a type, by the label that Karpenter gives its nodes."""


def in_catalog(pool: Pool, key: str, value: str) -> str:
    """The value of a label as the catalog has it: EC2's name of a type, which none of another platform's nodes has."""
    if key != INSTANCE_TYPE or not pool.type_prefix:
        return value
    return value.removeprefix(pool.type_prefix) if value.startswith(pool.type_prefix) else ""


def instance_labels(pool: Pool, domain: str) -> Iterator[tuple[Route, str]]:
    """The place and the name, without its domain, of each label of instances of a domain that a pool requires."""
    for index, requirement in enumerate(pool.requirements):
        if requirement.key.startswith(f"{domain}instance-"):
            name = requirement.key.removeprefix(domain)
            yield pool.where("requirements") / index, name


def instance_values(pool: Pool, name: str) -> tuple[str, ...] | None:
    """The values left for a label of instance types, by its name without domain."""
    values = pool.values(f"{KARPENTER}instance-{name}")
    if values is None:
        values = pool.values(f"{AUTO_MODE}instance-{name}")
    return values


def types_of(pool: Pool, catalog: Catalog) -> tuple[InstanceType, ...]:
    """The instance types that a pool may launch; () where the facts do not say all of them."""
    types = named_types(pool, catalog)
    return tuple(instance for instance in types if not unmet_requirements(pool, instance))


def named_types(pool: Pool, catalog: Catalog) -> tuple[InstanceType, ...]:
    """The instance types that a pool names, before its other requirements; () where the facts do not say them."""
    types = []
    for name in _names(pool, catalog):
        instance = catalog.instance(name)
        if instance is None:
            return ()
        types.append(instance)
    return tuple(types)


def unmet_requirements(pool: Pool, instance: InstanceType) -> list[Requirement]:
    """The requirements of a pool that an instance type does not meet."""
    return [
        requirement
        for requirement in pool.requirements
        if requirement.key in FACTS and not admits(requirement, FACTS[requirement.key](instance))
    ]


def _names(pool: Pool, catalog: Catalog) -> Iterable[str]:
    """Candidates that are certainly all: by name, by family and size, by family or GPU where every size is known."""
    if pool.instance_types is not None:
        return pool.instance_types
    families = instance_values(pool, "family")
    if families:
        return _of_families(families, instance_values(pool, "size"), catalog)
    gpus = instance_values(pool, "gpu-name")
    if gpus and _PARTLY_KNOWN.isdisjoint(gpus):
        return _with_gpus(gpus, catalog)
    return ()


def _with_gpus(gpus: tuple[str, ...], catalog: Catalog) -> list[str]:
    """The types with one of some GPUs; none where the catalog does not know one of these."""
    known: set[str | None] = set()
    names = []
    for name, instance in catalog.instance_types.items():
        gpu = _accelerator_name(instance)
        known.add(gpu)
        if gpu in gpus:
            names.append(name)
    if known.issuperset(gpus):
        return names
    return []


def nonexistent_type(pool: Pool, catalog: Catalog) -> str:
    """A type that a pool names by family and size and that does not exist, where none of those that it names does."""
    families = instance_values(pool, "family") or ()
    sizes = instance_values(pool, "size") or ()
    pairs = product(families, sizes)
    names = [f"{family}.{size}" for family, size in pairs]
    if not names:
        return ""
    if not all(other_sizes(name, catalog) for name in names):
        return ""
    return names[0]


def other_sizes(name: str, catalog: Catalog) -> list[str]:
    """The types of the family of an instance type that is none of them; nothing where that is not certain: general
    families are there only in the sizes that people train on."""
    family = _family_of(name)
    known = catalog.instance_types
    names = [other for other in known if _family_of(other) == family]
    if name in names:
        return []
    complete = all(_has_all_sizes(known[other]) for other in names)
    return names if complete else []


def _family_of(name: str) -> str:
    return name.partition(".")[0]


def _of_families(
    families: tuple[str, ...], sizes: tuple[str, ...] | None, catalog: Catalog
) -> list[str]:
    """The types of some families, by size if sizes are named. Without sizes none where not every size is known."""
    by_family: dict[str, list[str]] = {}
    for family in families:
        by_family[family] = []
    complete: set[str] = set()
    for name in catalog.instance_types:
        family = _family_of(name)
        if family in by_family:
            by_family[family].append(name)
            if _has_all_sizes(catalog.instance_types[name]):
                complete.add(family)
    if sizes is not None:
        pairs = product(families, sizes)
        names = [f"{family}.{size}" for family, size in pairs]
        return [
            name
            for name in names
            if name in catalog.instance_types or _family_of(name) not in complete
        ]
    if not complete.issuperset(families):
        return []
    return [name for family in families for name in by_family[family]]


def _has_all_sizes(instance: InstanceType) -> bool:
    """Whether all sizes of the type's family are in the catalog; general families are there in a few."""
    if instance.accelerators:
        return True
    return instance.family.startswith("hpc")


def has_label(pool: Pool, types: tuple[InstanceType, ...], key: str, value: str) -> bool | None:
    """Whether nodes of a pool carry a label; ``None`` if that cannot be known."""
    if key == NODEPOOL_LABEL:
        if isinstance(pool, FixedPool):
            return False
        return _equal(pool.name, value)
    if key in pool.labels:
        return _equal(pool.labels[key], value)
    bounds = [bound for bound in pool.requirements if bound.key == key]
    unknown = placeholder(value)
    if bounds and unknown:
        return None
    if not all(admits(bound, value) for bound in bounds):
        return False
    if key in FACTS and types:
        if unknown:
            return None
        fact = FACTS[key]
        return any(fact(instance) == value for instance in types)
    if bounds:
        listing = [bound for bound in bounds if bound.operator == "In"]
        required = any(value in bound.values for bound in listing)
        return True if required else None
    domain = key.rpartition("/")[0]
    return None if domain.endswith(_WRITTEN_BY_OTHERS) else False


def _equal(have: str, wanted: str) -> bool | None:
    """Whether two values are the same; ``None`` where one of them is filled in later."""
    if have == wanted:
        return True
    if placeholder(have) or placeholder(wanted):
        return None
    return False


def place(pool: Pool, key: str, value: str) -> Route:
    """Where a pool requires a value of a label; the pool where that is not written."""
    name = _ORIGINS.get(key, "labels")
    if isinstance(pool, FixedPool) or "requirements" not in pool.origins:
        return pool.where(name)
    requirements = pool.requirements
    for index, bound in enumerate(requirements):
        is_choice = bound.key == key and bound.operator == "In"
        if is_choice and value in bound.values:
            at = pool.where("requirements") / index / "values"
            return at / bound.values.index(value)
    return pool.where(name)


_ORIGINS = {INSTANCE_TYPE: "instance_types", ZONE: "zones", CAPACITY_TYPE: "capacity_types"}


HOLDS = "karpenter.sh/do-not-disrupt"
_FORMER = ("karpenter.sh/do-not-evict", "karpenter.sh/do-not-consolidate")
_OF_AUTOSCALER = "cluster-autoscaler.kubernetes.io/safe-to-evict"


def unread_holds(annotations: Mapping[str, str]) -> list[str]:
    """The annotations that are meant to keep a pod's node, and that Karpenter does not read (karpenter v1.14,
    disruption; those of before v0.33, and the Cluster Autoscaler's)."""
    found = [key for key in _FORMER if annotations.get(key) == "true"]
    if annotations.get(_OF_AUTOSCALER) == "false":
        found.append(_OF_AUTOSCALER)
    return found


def forbids_disruption(pool: NodePool, reason: str) -> bool:
    """Whether a budget of no nodes, at all times, keeps Karpenter from disrupting a pool for a reason."""
    for budget in pool.budgets:
        if budget.schedule or budget.nodes not in ("0", "0%"):
            continue
        if not budget.reasons or reason in budget.reasons:
            return True
    return False


def without_accelerators(pool: Pool) -> bool:
    """Whether the categories of a pool say that no node has accelerators."""
    categories = instance_values(pool, "category")
    return bool(categories) and ACCELERATED.isdisjoint(categories or ())


_ACCELERATOR_LABELS = (
    "gpu-name",
    "gpu-count",
    "gpu-manufacturer",
    "accelerator-name",
    "accelerator-count",
)
_ACCELERATOR_KEYS = frozenset(
    f"{domain}instance-{name}" for domain in (KARPENTER, AUTO_MODE) for name in _ACCELERATOR_LABELS
)


def accelerated(pool: Pool, types: tuple[InstanceType, ...]) -> bool:
    """Whether every node of a pool is known to have accelerators."""
    if types:
        return all(instance.accelerators for instance in types)
    categories = instance_values(pool, "category")
    if categories:
        return ACCELERATED.issuperset(categories)
    for requirement in pool.requirements:
        present = requirement.operator in ("In", "Gt", "Gte", "Exists")
        if present and requirement.key in _ACCELERATOR_KEYS:
            return True
    return False


__all__ = [
    "FACTS",
    "accelerated",
    "admits",
    "as_pool",
    "forbids_disruption",
    "has_label",
    "instance_values",
    "named_types",
    "nonexistent_type",
    "other_sizes",
    "place",
    "types_of",
    "unmet_requirements",
    "without_accelerators",
]
