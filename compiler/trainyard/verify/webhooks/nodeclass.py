"""NodeClass of EKS Auto Mode: what its documentation says of fields beside each other (EKS user guide,
create-node-class and device-management-efa, read 2026-11).
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.output.body import mappings_at, value_at
from trainyard.output.manifest import Body
from trainyard.verify.fault import Fault, Path, refused
from trainyard.verify.webhooks import Lookup

GROUP = "eks.amazonaws.com"
_INTERFACES: Path = ("spec", "advancedNetworking", "networkInterfaces")
_ADDRESSES = ("secondaryIPv4Count", "secondaryIPv4PrefixCount")
# create-node-class, considerations: tags that Auto Mode keeps for itself
_RESERVED_TAGS = (
    "karpenter.sh/provisioner-name",
    "karpenter.sh/nodepool",
    "karpenter.sh/nodeclaim",
    "karpenter.sh/managed-by",
    "eks.amazonaws.com/nodeclass",
)


def check(body: Body, lookup: Lookup) -> Iterator[Fault]:
    spec = value_at(body, "spec") or {}
    if "role" in spec and "instanceProfile" in spec:
        yield refused(
            ("spec", "instanceProfile"),
            "`instanceProfile` is set together with `role`",
            "keep one of them",
            key=True,
        )
    if "podSubnetSelectorTerms" in spec and "podSecurityGroupSelectorTerms" not in spec:
        yield refused(
            ("spec", "podSubnetSelectorTerms"),
            "pods have subnets of their own, and no security groups",
            "add `podSecurityGroupSelectorTerms`",
            key=True,
        )
    for key in spec.get("tags") or {}:
        if key in _RESERVED_TAGS or str(key).startswith("kubernetes.io/cluster"):
            yield refused(
                ("spec", "tags", key),
                f"tag `{key}` is kept by EKS Auto Mode",
                "remove it",
                key=True,
            )
    yield from _interfaces(mappings_at(spec, "advancedNetworking", "networkInterfaces"))
    public = value_at(spec, "advancedNetworking", "associatePublicIPAddress")
    several = len(mappings_at(spec, "advancedNetworking", "networkInterfaces")) > 1
    if public is True and several:
        yield refused(
            ("spec", "advancedNetworking", "associatePublicIPAddress"),
            "a node of several interfaces has no public address",
            "remove it",
            key=True,
        )


def _interfaces(interfaces: list[Body]) -> Iterator[Fault]:
    """The first interface of the first card has addresses; no other card gives pods any, nor an `efa-only` one."""
    places = [_place(entry) for entry in interfaces]
    primary = (0, 0) in places
    if interfaces and not primary:
        yield refused(
            _INTERFACES,
            "no interface is the first of the first network card",
            "add `{networkCardIndex: 0, deviceIndex: 0, interfaceType: interface}`",
        )
    for index, entry in enumerate(interfaces):
        path = (*_INTERFACES, index)
        is_efa_only = entry.get("interfaceType") == "efa-only"
        first = places.index(_place(entry))
        if first != index:
            fact = f"this device of its network card is interface {first} already"
            yield refused(path, fact, "list each device once")
        if _place(entry) == (0, 0) and is_efa_only:
            yield refused(
                (*path, "interfaceType"),
                "the first interface of the first network card is `efa-only`",
                "write `interface`",
            )
        given = [field for field in _ADDRESSES if field in entry]
        has_none = is_efa_only or entry.get("networkCardIndex") != 0
        if len(given) > 1:
            yield refused(
                (*path, given[1]),
                f"`{given[1]}` is set together with `{given[0]}`",
                "keep one of them",
                key=True,
            )
        elif given and has_none:
            yield refused(
                (*path, given[0]),
                "addresses of pods on an interface that has none",
                "keep them on network card 0, on one of type `interface`",
                key=True,
            )


def _place(entry: Body) -> tuple[object, object]:
    return entry.get("networkCardIndex"), entry.get("deviceIndex")
