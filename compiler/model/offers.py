"""What a pool may launch: the instance types that its requirements leave, and the labels of its nodes.

Label keys and values: karpenter-provider-aws v1.14.1 pkg/apis/v1/labels.go and
pkg/providers/instancetype/types.go; EKS Auto Mode has the same under ``eks.amazonaws.com``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from compiler.catalog import Catalog, InstanceType
from compiler.catalog.instance import NEURON_RESOURCE, NVIDIA_RESOURCE
from compiler.dataclass import dataclass
from compiler.manifest import placeholder
from compiler.plan.units import Quantity
from compiler.source import Route
from compiler.subjects.pools.plan import (
    ARCH,
    CAPACITY_TYPE,
    INSTANCE_TYPE,
    NODEPOOL_LABEL,
    ZONE,
    NodeGroup,
    NodePool,
    Requirement,
)

KARPENTER, AUTO_MODE = "karpenter.k8s.aws/", "eks.amazonaws.com/"
ACCELERATED = frozenset({"p", "g", "gr", "trn", "inf", "dl"})
"""Instance categories of which every type has accelerators."""

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
_SCHEME = re.compile(r"([a-z]+)(?:-[0-9]+tb)?([0-9]+)")
# Families of these accelerators are all in the catalog; of others (V100: p3) only some are.
_PARTLY_KNOWN = frozenset({"v100", "k80", "m60"})


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupPool(NodePool):
    """A node group of eksctl, seen as a pool: its largest size is the limit, ``least`` its smallest size."""

    efa: bool = False
    block: bool = False
    least: int | None = None
    own_kubelet: bool = False


def as_pool(group: NodeGroup) -> GroupPool:
    """A node group as a pool, with the labels that EKS and eksctl give its nodes (eksctl 0.230)."""
    sizes = [each for each in (group.max_size, group.desired) if each is not None]
    most = (
        max(sizes) if sizes else None
    )  # without maxSize eksctl takes the other; more than maxSize is told by LIM012
    limit = {"nodes": Quantity.of(most)} if most is not None else {}
    requirements = (
        [Requirement(INSTANCE_TYPE, "In", group.instance_types)]
        if group.instance_types
        else []
    )
    if group.zones:
        requirements.append(
            Requirement("topology.kubernetes.io/zone", "In", group.zones)
        )
    labels = {
        **group.labels,
        "alpha.eksctl.io/nodegroup-name": group.name,
        f"{AUTO_MODE}nodegroup": group.name,
    }
    bound = group.where("max_size" if group.max_size is not None else "desired")
    origins = {
        **group.origins,
        "limits": bound,
        "capacity_types": group.where("reservation"),
    }
    return GroupPool(
        at=group.at,
        origins=origins,
        name=group.name,
        node_class="",
        labels=labels,
        taints=group.taints,
        requirements=tuple(requirements),
        limits=limit,
        efa=group.efa,
        block=group.capacity_block,
        least=group.min_size,
        own_kubelet=group.own_kubelet,
    )


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
            return value is not None and _compared(operator, value, values)
    return True


def _compared(operator: str, value: str, values: tuple[str, ...]) -> bool:
    if not values or not values[0].isdigit() or not value.isdigit():
        return True
    have, bound = int(value), int(values[0])
    return {
        "Gt": have > bound,
        "Lt": have < bound,
        "Gte": have >= bound,
        "Lte": have <= bound,
    }[operator]


def _kebab(text: str | None) -> str | None:
    return text.lower().replace(" ", "-") if text else None


def _scheme(instance: InstanceType, part: int) -> str | None:
    found = _SCHEME.match(instance.family)
    return found[part] if found else None


def _device(instance: InstanceType, resource: str, text: str | None) -> str | None:
    return text if instance.accelerator_resource == resource else None


Fact = Callable[[InstanceType], str | None]
_INSTANCE: dict[str, Fact] = {
    "family": lambda each: each.family,
    "size": lambda each: each.size,
    "category": lambda each: _scheme(each, 1),
    "generation": lambda each: _scheme(each, 2),
    "cpu": lambda each: str(each.vcpus),
    "memory": lambda each: str(each.memory_mib),
    "gpu-count": lambda each: _device(each, NVIDIA_RESOURCE, str(each.gpus)),
    "gpu-name": lambda each: _device(each, NVIDIA_RESOURCE, _kebab(each.accelerator)),
    "gpu-manufacturer": lambda each: _device(each, NVIDIA_RESOURCE, "nvidia"),
    "gpu-memory": lambda each: _device(
        each, NVIDIA_RESOURCE, str(each.accelerator_memory_mib)
    ),
    "accelerator-count": lambda each: _device(
        each, NEURON_RESOURCE, str(each.accelerators)
    ),
    "accelerator-name": lambda each: _device(
        each, NEURON_RESOURCE, _kebab(each.accelerator)
    ),
    "accelerator-manufacturer": lambda each: _device(each, NEURON_RESOURCE, "aws"),
}
FACTS: dict[str, Fact] = {
    INSTANCE_TYPE: lambda each: each.name,
    ARCH: lambda each: each.arch,
    **{
        f"{domain}instance-{name}": fact
        for domain in (KARPENTER, AUTO_MODE)
        for name, fact in _INSTANCE.items()
    },
}
"""What the catalog says of a type, by the label that Karpenter gives its nodes."""


def one_of(pool: NodePool, name: str) -> tuple[str, ...] | None:
    """The values left for a label of instance types, by its name without domain."""
    found = pool.values(f"{KARPENTER}instance-{name}")
    return found if found is not None else pool.values(f"{AUTO_MODE}instance-{name}")


def types_of(pool: NodePool, catalog: Catalog) -> tuple[InstanceType, ...]:
    """The instance types that a pool may launch; () where the facts do not tell all of them."""
    return tuple(each for each in named(pool, catalog) if not excluding(pool, each))


def named(pool: NodePool, catalog: Catalog) -> tuple[InstanceType, ...]:
    """The instance types that a pool names, before its other requirements; () where the facts do not tell them."""
    found = [catalog.instance(name) for name in _names(pool, catalog)]
    return tuple(each for each in found if each is not None) if all(found) else ()


def excluding(pool: NodePool, instance: InstanceType) -> list[Requirement]:
    """The requirements of a pool that an instance type does not meet."""
    return [
        each
        for each in pool.requirements
        if each.key in FACTS and not admits(each, FACTS[each.key](instance))
    ]


def _names(pool: NodePool, catalog: Catalog) -> Iterable[str]:
    """Candidates that are certainly all: by name, by family and size, by family or GPU where every size is known."""
    if pool.instance_types is not None:
        return pool.instance_types
    families, sizes, gpus = (
        one_of(pool, "family"),
        one_of(pool, "size"),
        one_of(pool, "gpu-name"),
    )
    known = catalog.instance_types
    if families:
        return _of_families(families, sizes, catalog)
    if gpus and not _PARTLY_KNOWN & set(gpus):
        names = {
            name: _kebab(each.accelerator)
            for name in known
            if (each := catalog.instance(name)) is not None
        }
        return (
            [name for name, gpu in names.items() if gpu in gpus]
            if set(gpus) <= set(names.values())
            else ()
        )
    return ()


def not_there(pool: NodePool, catalog: Catalog) -> str:
    """A type that a pool names by family and size and that does not exist, where none of those that it names does."""
    names = [
        f"{family}.{size}"
        for family in one_of(pool, "family") or ()
        for size in one_of(pool, "size") or ()
    ]
    return names[0] if names and all(sizes_of(each, catalog) for each in names) else ""


def sizes_of(name: str, catalog: Catalog) -> list[str]:
    """The types of the family of an instance type that is none of them; nothing where that is not certain: general
    families are there only in the sizes that people train on."""
    family = [
        each
        for each in catalog.instance_types
        if each.startswith(f"{name.partition('.')[0]}.")
    ]
    return (
        family
        if name not in family and all(_whole(catalog.instance(each)) for each in family)
        else []
    )


def _of_families(
    families: Iterable[str], sizes: tuple[str, ...] | None, catalog: Catalog
) -> Iterable[str]:
    by_family: dict[str, list[str]] = {}
    for name in catalog.instance_types:
        by_family.setdefault(name.partition(".")[0], []).append(name)
    whole = {
        each
        for each in families
        if any(_whole(catalog.instance(name)) for name in by_family.get(each, ()))
    }
    if sizes is None:
        return (
            [name for each in families for name in by_family[each]]
            if whole == set(families)
            else ()
        )
    names = [f"{family}.{size}" for family in families for size in sizes]
    return [
        name
        for name in names
        if name in catalog.instance_types or name.partition(".")[0] not in whole
    ]


def _whole(instance: InstanceType | None) -> bool:
    """Whether all sizes of the type's family are in the catalog; general families are there in a few."""
    return instance is not None and (
        bool(instance.accelerators) or instance.family.startswith("hpc")
    )


def has_label(
    pool: NodePool, types: tuple[InstanceType, ...], key: str, value: str
) -> bool | None:
    """Whether nodes of a pool carry a label; ``None`` if that cannot be known."""
    if key == NODEPOOL_LABEL:
        return _same(pool.name, value) if not isinstance(pool, GroupPool) else False
    if key in pool.labels:
        return _same(pool.labels[key], value)
    bounds = [each for each in pool.requirements if each.key == key]
    if bounds and placeholder(value):
        return None
    if not all(admits(each, value) for each in bounds):
        return False
    if key in FACTS and types:
        return (
            None
            if placeholder(value)
            else any(FACTS[key](each) == value for each in types)
        )
    if bounds:
        return (
            True
            if any(value in each.values for each in bounds if each.operator == "In")
            else None
        )
    domain = key.rpartition("/")[0]
    return None if domain.endswith(_WRITTEN_BY_OTHERS) and domain else False


def _same(have: str, wanted: str) -> bool | None:
    return (
        True
        if have == wanted
        else None
        if placeholder(have) or placeholder(wanted)
        else False
    )


def place(pool: NodePool, key: str, value: str) -> Route:
    """Where a pool requires a value of a label; the pool where that is not written."""
    for index, each in enumerate(
        pool.requirements if "requirements" in pool.origins else ()
    ):
        if each.key == key and each.operator == "In" and value in each.values:
            return (
                pool.where("requirements") / index / "values" / each.values.index(value)
            )
    return pool.where(_ORIGINS.get(key, "labels"))


_ORIGINS = {
    INSTANCE_TYPE: "instance_types",
    ZONE: "zones",
    CAPACITY_TYPE: "capacity_types",
}


def held(pool: NodePool, reason: str) -> bool:
    """Whether a budget of no nodes, at all times, keeps Karpenter from disrupting a pool for a reason."""
    return any(
        each.nodes in ("0", "0%")
        and not each.schedule
        and (not each.reasons or reason in each.reasons)
        for each in pool.budgets
    )


def without_accelerators(pool: NodePool) -> bool:
    """Whether the categories of a pool say that no node has accelerators."""
    categories = one_of(pool, "category")
    return bool(categories) and ACCELERATED.isdisjoint(categories or ())


def accelerated(pool: NodePool, types: tuple[InstanceType, ...]) -> bool:
    """Whether every node of a pool is known to have accelerators."""
    if types:
        return all(each.accelerators for each in types)
    categories = one_of(pool, "category")
    if categories:
        return set(categories) <= ACCELERATED
    names = (
        "gpu-name",
        "gpu-count",
        "gpu-manufacturer",
        "accelerator-name",
        "accelerator-count",
    )
    keys = {
        f"{domain}instance-{name}"
        for domain in (KARPENTER, AUTO_MODE)
        for name in names
    }
    return any(
        each.key in keys and each.operator in ("In", "Gt", "Gte", "Exists")
        for each in pool.requirements
    )


__all__ = [
    "FACTS",
    "GroupPool",
    "accelerated",
    "admits",
    "as_pool",
    "excluding",
    "has_label",
    "held",
    "named",
    "not_there",
    "one_of",
    "place",
    "sizes_of",
    "types_of",
    "without_accelerators",
]
