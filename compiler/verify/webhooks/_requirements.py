"""NodePool: the CEL rules of its CRD in words (karpenter and karpenter-provider-aws v1.14.1)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from compiler.output.body import at, items
from compiler.verify.fault import Fault, Path, breaks, nearest

_SH, _AWS = "karpenter.sh", "karpenter.k8s.aws"
_INSTANCE = (
    "tenancy",
    "encryption-in-transit-supported",
    "category",
    "hypervisor",
    "family",
    "generation",
    "local-nvme",
    "size",
    "cpu",
    "cpu-manufacturer",
    "cpu-sustained-clock-speed-mhz",
    "memory",
    "ebs-bandwidth",
    "network-bandwidth",
    "gpu-name",
    "gpu-manufacturer",
    "gpu-count",
    "gpu-memory",
    "accelerator-name",
    "accelerator-manufacturer",
    "accelerator-count",
    "capability-flex",
)
_RESERVATION = ("type", "id", "interruptible")
_OTHERS = ("ec2nodeclass", "placement-group-id", "placement-group-partition")
_KNOWN = {f"{_SH}/capacity-type"}
_KNOWN |= {f"{_AWS}/instance-{name}" for name in _INSTANCE}
_KNOWN |= {f"{_AWS}/capacity-reservation-{name}" for name in _RESERVATION}
_KNOWN |= {f"{_AWS}/{name}" for name in _OTHERS}
_OWN = (f"{_SH}/nodepool", "kubernetes.io/hostname")
_NUMBERS = ("Gt", "Lt", "Gte", "Lte")


def rules(spec: dict[str, Any]) -> Iterator[Fault]:
    """Faults of a spec."""
    template: Path = ("spec", "template")
    for key in at(spec, "template", "metadata", "labels") or {}:
        yield from _key((*template, "metadata", "labels", key), key, written=True)
    requirements = items(spec, "template", "spec", "requirements")
    for index, requirement in enumerate(requirements):
        path = (*template, "spec", "requirements", index)
        key = str(requirement.get("key"))
        yield from _key((*path, "key"), key)
        yield from _values(path, requirement)
    ref = at(spec, "template", "spec", "nodeClassRef") or {}
    for field, value in ref.items():
        if value == "":
            path = (*template, "spec", "nodeClassRef", field)
            yield breaks(path, f"`{field}` is empty", "name the node class in full")
    for index, budget in enumerate(items(spec, "disruption", "budgets")):
        yield from _budget(("spec", "disruption", "budgets", index), budget)
    if "replicas" in spec:
        yield from _static(spec)


def _budget(path: Path, budget: dict[str, Any]) -> Iterator[Fault]:
    """Schedule and duration come in a pair."""
    fields = ("schedule", "duration")
    given = [field for field in fields if field in budget]
    if len(given) == 1:
        lacks = "duration" if given == ["schedule"] else "schedule"
        message = f"a budget with `{given[0]}` and no `{lacks}`"
        yield breaks((*path, given[0]), message, f"add `{lacks}`", key=True)


def _static(spec: dict[str, Any]) -> Iterator[Fault]:
    """A pool with ``replicas`` takes no part in provisioning for pods."""
    for name in at(spec, "limits") or {}:
        if name != "nodes":
            yield breaks(
                ("spec", "limits", name),
                f"a pool with `replicas` is limited in `nodes`, not in `{name}`",
                "keep `nodes` only",
                key=True,
            )
    if "weight" in spec:
        yield breaks(
            ("spec", "weight"), "a pool with `replicas` has no `weight`", "leave it out", key=True
        )


def _key(path: Path, key: str, *, written: bool = False) -> Iterator[Fault]:
    domain = key.partition("/")[0]
    if key in _OWN:
        yield breaks(path, f"`{key}` is written by Karpenter itself", "leave it out", key=written)
        return
    is_karpenters = domain.endswith((_SH, _AWS))
    if is_karpenters and key not in _KNOWN:
        yield breaks(
            path,
            f"`{key}` is no label of Karpenter",
            nearest(key, _KNOWN, "take one of Karpenter's labels, or a domain of your own"),
            key=written,
        )


def _values(path: Path, requirement: dict[str, Any]) -> Iterator[Fault]:
    operator = requirement.get("operator")
    values = requirement.get("values") or []
    least = requirement.get("minValues")
    if operator in _NUMBERS:
        is_number = len(values) == 1 and str(values[0]).isdecimal()
        if not is_number:
            yield breaks(
                (*path, "values"),
                f"`{operator}` compares with one whole number",
                'write it in quotes: `["8"]`',
            )
        return
    if operator != "In":
        return
    if not values:
        yield breaks((*path, "operator"), "`In` without values", "add `values:`, or write `Exists`")
    elif isinstance(least, int) and len(values) < least:
        yield breaks(
            (*path, "minValues"),
            f"{least} values at least are wanted, and {len(values)} are given",
            "lower `minValues`, or add values",
        )


__all__ = ["rules"]
