"""EC2NodeClass: the CEL rules of its CRD in words (karpenter-provider-aws v1.14.1)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from compiler.catalog.ami_families import families
from compiler.output.body import at, items
from compiler.verify.fault import Fault, Path, breaks, nearest

_ALIAS = re.compile(r"([a-zA-Z0-9]+)@(.+)\Z")
_SELECTORS = {"id", "tags", "name", "owner", "alias"}
_RESERVABLE = ("cpu", "memory", "ephemeral-storage", "pid")
_TAGS = (
    "eks:eks-cluster-name",
    "karpenter.sh/nodepool",
    "karpenter.sh/nodeclaim",
    "karpenter.k8s.aws/ec2nodeclass",
)


def rules(spec: dict[str, Any]) -> Iterator[Fault]:
    """Faults of a spec."""
    yield from _role(spec)
    for field in _TERMS:
        if spec.get(field) == []:
            yield breaks(("spec", field), "no term selects anything", "write one", key=True)
    yield from _images(spec, items(spec, "amiSelectorTerms"))
    yield from _disks(items(spec, "blockDeviceMappings"))
    yield from _kubelet(at(spec, "kubelet") or {})
    group = spec.get("placementGroupSelector")
    selectors = {"name", "id"}
    if isinstance(group, dict) and len(selectors & set(group)) != 1:
        what = "both `name` and `id`" if group else "neither `name` nor `id`"
        message = f"the placement group is given by {what}"
        yield breaks(("spec", "placementGroupSelector"), message, "give one", key=True)
    if spec.get("connectionTracking") == {}:
        yield breaks(
            ("spec", "connectionTracking"),
            "no timeout is given",
            "give one, or leave the field out",
        )
    for key in at(spec, "tags") or {}:
        if key in _TAGS or key.startswith("kubernetes.io/cluster"):
            yield breaks(
                ("spec", "tags", key), f"tag `{key}` is Karpenter's own", "leave it out", key=True
            )


_TERMS = ("subnetSelectorTerms", "securityGroupSelectorTerms", "amiSelectorTerms")


def _role(spec: dict[str, Any]) -> Iterator[Fault]:
    sources = ("role", "instanceProfile")
    given = [name for name in sources if name in spec]
    if len(given) != 1:
        what = (
            "`role` and `instanceProfile` exclude each other"
            if given
            else "neither `role` nor `instanceProfile`"
        )
        help = "keep one" if given else "write `role:` with the role of the nodes"
        yield breaks(("spec", *given[1:]), what, help, key=True)
    elif spec[given[0]] == "":
        yield breaks(
            ("spec", given[0]), f"`{given[0]}` is empty", "write the name of the nodes' role"
        )


def _images(spec: dict[str, Any], terms: list[dict[str, Any]]) -> Iterator[Fault]:
    path: Path = ("spec", "amiSelectorTerms")
    aliased = []
    for index, term in enumerate(terms):
        if not term:
            yield breaks((*path, index), "a term that selects nothing", "write `alias:` or `id:`")
        if "alias" in term:
            aliased.append((index, term))
        selectors = [key for key in ("alias", "id") if key in term]
        alone = selectors[0] if selectors else ""
        keys = set(term) - {alone}
        others = sorted(keys & _SELECTORS)
        if alone and others:
            message = f"a term with `{alone}` also has `{others[0]}`"
            yield breaks((*path, index, others[0]), message, f"keep `{alone}`", key=True)
    if aliased and len(terms) > 1:
        yield breaks(
            (*path, aliased[0][0]),
            "an alias is set together with other terms",
            "keep the alias alone",
        )
    for index, term in aliased:
        here = (*path, index, "alias")
        alias = str(term["alias"])
        yield from _alias(here, alias, spec.get("amiFamily"))
    if terms and not aliased and "amiFamily" not in spec:
        message = "neither an alias nor `amiFamily` says how nodes join"
        yield breaks(path, message, "write `amiFamily: AL2023`", key=True)


def _alias(path: Path, alias: str, family: Any) -> Iterator[Fault]:
    match = _ALIAS.match(alias)
    if match is None:
        message = f"alias `{alias}` says no version"
        yield breaks(path, message, "write it as `al2023@v20260714`")
        return
    name, version = match.groups()
    known = families().get(name)
    if known is None:
        message = f"`{name}` is no family of images"
        help = nearest(name, families(), "write one like `AL2023`")
        yield breaks(path, message, help)
    elif not known.pinned and version != "latest":
        message = f"images of `{name}` cannot be pinned"
        yield breaks(path, message, f"write `{name}@latest`")
    elif family not in (None, "Custom", known.karpenter):
        yield breaks(
            ("spec", "amiFamily"),
            f"`{family}` does not go with the alias `{alias}`",
            f"write `amiFamily: {known.karpenter}`, or leave it out",
        )


def _disks(disks: list[dict[str, Any]]) -> Iterator[Fault]:
    path: Path = ("spec", "blockDeviceMappings")
    flags = [disk.get("rootVolume") for disk in disks]
    roots = [index for index, flag in enumerate(flags) if flag is True]
    for index in roots[1:]:
        yield breaks((*path, index, "rootVolume"), "a second root volume", "keep one")
    for index, disk in enumerate(disks):
        volume = disk.get("ebs")
        sources = {"snapshotID", "volumeSize"}
        if isinstance(volume, dict) and sources.isdisjoint(volume):
            message = "a volume without size or snapshot"
            yield breaks((*path, index, "ebs"), message, "write `volumeSize:`", key=True)


def _kubelet(kubelet: dict[str, Any]) -> Iterator[Fault]:
    high = kubelet.get("imageGCHighThresholdPercent")
    low = kubelet.get("imageGCLowThresholdPercent")
    if isinstance(high, int) and isinstance(low, int) and high <= low:
        yield breaks(
            ("spec", "kubelet", "imageGCHighThresholdPercent"),
            f"{high} is not above the low threshold, {low}",
            "make it the larger one",
        )
    for field in ("kubeReserved", "systemReserved"):
        reserved = at(kubelet, field) or {}
        for key, amount in reserved.items():
            path = ("spec", "kubelet", field, key)
            if key not in _RESERVABLE:
                message = f"`{key}` cannot be reserved"
                yield breaks(path, message, nearest(key, _RESERVABLE), key=True)
            elif str(amount).startswith("-"):
                yield breaks(path, f"{amount} is negative", "write 0 or more")


__all__ = ["rules"]
