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
_KNOWN = frozenset(
    {
        f"{_SH}/capacity-type",
        *(f"{_AWS}/instance-{name}" for name in _INSTANCE),
        *(
            f"{_AWS}/capacity-reservation-{name}"
            for name in ("type", "id", "interruptible")
        ),
        *(
            f"{_AWS}/{name}"
            for name in (
                "ec2nodeclass",
                "placement-group-id",
                "placement-group-partition",
            )
        ),
    }
)
_OWN = (f"{_SH}/nodepool", "kubernetes.io/hostname")
_NUMBERS = ("Gt", "Lt", "Gte", "Lte")


def rules(spec: dict[str, Any]) -> Iterator[Fault]:
    """Faults of a spec."""
    template: Path = ("spec", "template")
    for key in at(spec, "template", "metadata", "labels") or {}:
        yield from _key((*template, "metadata", "labels", key), key, written=True)
    for index, each in enumerate(items(spec, "template", "spec", "requirements")):
        path = (*template, "spec", "requirements", index)
        yield from _key((*path, "key"), str(each.get("key")))
        yield from _values(path, each)
    for field, value in (at(spec, "template", "spec", "nodeClassRef") or {}).items():
        if value == "":
            path = (*template, "spec", "nodeClassRef", field)
            yield breaks(path, f"`{field}` is empty", "name the node class in full")
    for index, each in enumerate(items(spec, "disruption", "budgets")):
        if ("schedule" in each) != ("duration" in each):
            has, lacks = (
                ("schedule", "duration")
                if "schedule" in each
                else ("duration", "schedule")
            )
            yield breaks(
                ("spec", "disruption", "budgets", index, has),
                f"a budget with `{has}` and no `{lacks}`",
                f"add `{lacks}`",
                key=True,
            )
    if "replicas" in spec:
        yield from _static(spec)


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
            ("spec", "weight"),
            "a pool with `replicas` has no `weight`",
            "leave it out",
            key=True,
        )


def _key(path: Path, key: str, *, written: bool = False) -> Iterator[Fault]:
    domain = key.partition("/")[0]
    if key in _OWN:
        yield breaks(
            path, f"`{key}` is written by Karpenter itself", "leave it out", key=written
        )
    elif domain.endswith((_SH, _AWS)) and key not in _KNOWN:
        yield breaks(
            path,
            f"`{key}` is no label of Karpenter",
            nearest(
                key, _KNOWN, "take one of Karpenter's labels, or a domain of your own"
            ),
            key=written,
        )


def _values(path: Path, requirement: dict[str, Any]) -> Iterator[Fault]:
    operator, values = requirement.get("operator"), requirement.get("values") or []
    least = requirement.get("minValues")
    if operator == "In" and not values:
        yield breaks(
            (*path, "operator"),
            "`In` without values",
            "add `values:`, or write `Exists`",
        )
    elif operator in _NUMBERS and not (len(values) == 1 and str(values[0]).isdigit()):
        yield breaks(
            (*path, "values"),
            f"`{operator}` compares with one whole number",
            'write it in quotes: `["8"]`',
        )
    elif operator == "In" and isinstance(least, int) and len(values) < least:
        yield breaks(
            (*path, "minValues"),
            f"{least} values at least are wanted, and {len(values)} are given",
            "lower `minValues`, or add values",
        )


__all__ = ["rules"]
