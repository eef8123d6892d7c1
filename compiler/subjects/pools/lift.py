"""Lift: EC2NodeClass, NodePool and NodeOverlay."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.lift.pods import taints
from compiler.lift.reader import Reader, annotations_of, name_of, pruned, unread
from compiler.plan.base import PlanNode
from compiler.source import Route
from compiler.subjects.pools.plan import (
    CAPACITY_TYPE,
    INSTANCE_TYPE,
    ZONE,
    BlockDevice,
    Budget,
    NetworkInterface,
    NodeClass,
    NodeOverlay,
    NodePool,
    Requirement,
    SelectorTerm,
)


def node_class(body: Reader) -> Iterator[PlanNode]:
    """EC2NodeClass."""
    spec = body / "spec"
    images = (spec / "amiSelectorTerms").items()
    alias = next((text for image in images if (text := (image / "alias").text())), None)
    selector = spec / "placementGroupSelector"
    yield NodeClass(
        at=body.at,
        name=name_of(body),
        ami_alias=alias,
        role=(spec / "role").text(),
        ami_family=(spec / "amiFamily").text(),
        ami_names=tuple(text for image in images if (text := (image / "name").text())),
        ami_parameters=tuple(
            text for image in images if (text := (image / "ssmParameter").text())
        ),
        origins={
            "interfaces": (spec / "networkInterfaces").at,
            "placement_group": selector.at,
            "reservations": (spec / "capacityReservationSelectorTerms").at,
            "block_devices": (spec / "blockDeviceMappings").at,
            "instance_store": (spec / "instanceStorePolicy").at,
            "ami_alias": (spec / "amiSelectorTerms").at,
            "subnets": (spec / "subnetSelectorTerms").at,
            "security_groups": (spec / "securityGroupSelectorTerms").at,
            "role": (spec / "role").at,
        },
        subnets=_terms(spec / "subnetSelectorTerms"),
        security_groups=_terms(spec / "securityGroupSelectorTerms"),
        reservations=_terms(spec / "capacityReservationSelectorTerms"),
        placement_group=(selector / "name").text() or (selector / "id").text(),
        interfaces=tuple(_interfaces(spec / "networkInterfaces")),
        instance_store=(spec / "instanceStorePolicy").text(),
        block_devices=tuple(_devices(spec / "blockDeviceMappings")),
        metadata_hops=spec.follow(
            "metadataOptions", "httpPutResponseHopLimit"
        ).integer(),
        tags=(spec / "tags").strings(),
        annotations=annotations_of(body),
        own_kubelet=bool(spec / "kubelet") or bool(spec / "userData"),
        user_data=bool(spec / "userData"),
        prune=pruned(body),
    )


def _terms(terms: Reader) -> tuple[SelectorTerm, ...]:
    return tuple(
        SelectorTerm(id=(term / "id").word(), tags=(term / "tags").strings())
        for term in terms.items()
    )


def _interfaces(interfaces: Reader) -> Iterator[NetworkInterface]:
    for interface in interfaces.items():
        card, device = (
            (interface / "networkCardIndex").integer(),
            (interface / "deviceIndex").integer(),
        )
        if card is not None and device is not None:
            yield NetworkInterface(card, device, (interface / "interfaceType").word())


def _devices(devices: Reader) -> Iterator[BlockDevice]:
    for device in devices.items():
        ebs = device / "ebs"
        size = (ebs / "volumeSize").quantity()
        if size is not None:
            yield BlockDevice(
                (device / "deviceName").word(),
                size,
                (ebs / "volumeType").word(),
                (ebs / "iops").integer(),
                (ebs / "throughput").integer(),
                (ebs / "encrypted").flag() or False,
            )


# Groups of node classes that are EC2NodeClasses; those of EKS Auto Mode are others.
_OURS = (None, "karpenter.k8s.aws")


def node_pool(body: Reader) -> Iterator[PlanNode]:
    """NodePool."""
    spec = body / "spec"
    template, disruption = spec.follow("template", "spec"), spec / "disruption"
    ref = template / "nodeClassRef"
    requirements = template / "requirements"
    yield NodePool(
        at=body.at,
        name=name_of(body),
        node_class=(ref / "name").word() if (ref / "group").value in _OURS else "",
        unread=unread(limits=spec / "limits", replicas=spec / "replicas"),
        origins={
            "limits": (spec / "limits").at,
            "replicas": (spec / "replicas").at,
            "taints": (template / "taints").at,
            "labels": spec.follow("template", "metadata", "labels").at,
            "requirements": requirements.at,
            "node_class": (ref / "name").at,
            "expire_after": (template / "expireAfter").at,
            "consolidation": (disruption / "consolidationPolicy").at,
            "budgets": (disruption / "budgets").at,
            "termination_grace": (template / "terminationGracePeriod").at,
            "instance_types": _place(requirements, INSTANCE_TYPE),
            "zones": _place(requirements, ZONE),
            "capacity_types": _place(requirements, CAPACITY_TYPE),
        },
        labels=spec.follow("template", "metadata", "labels").strings(),
        taints=taints(template / "taints"),
        startup_taints=taints(template / "startupTaints"),
        requirements=_requirements(requirements),
        limits=(spec / "limits").quantities(),
        replicas=(spec / "replicas").integer(),
        consolidation=(disruption / "consolidationPolicy").text(),
        consolidate_after=(disruption / "consolidateAfter").text(),
        budgets=tuple(
            Budget(
                (budget / "nodes").word(),
                (budget / "reasons").texts(),
                (budget / "schedule").word(),
            )
            for budget in (disruption / "budgets").items()
        ),
        expire_after=(template / "expireAfter").text(),
        termination_grace=(template / "terminationGracePeriod").text(),
        prune=pruned(body),
    )


def node_overlay(body: Reader) -> Iterator[PlanNode]:
    """NodeOverlay."""
    spec = body / "spec"
    yield NodeOverlay(
        at=body.at,
        name=name_of(body),
        origins={"capacity": (spec / "capacity").at},
        requirements=_requirements(spec / "requirements"),
        capacity=(spec / "capacity").quantities(),
    )


def _requirements(requirements: Reader) -> tuple[Requirement, ...]:
    return tuple(
        Requirement(
            (requirement / "key").word(),
            (requirement / "operator").word(),
            (requirement / "values").texts(),
        )
        for requirement in requirements.items()
    )


def _place(requirements: Reader, key: str) -> Route:
    """Where a key's values stand; the requirements where it has none."""
    for requirement in requirements.items():
        if (requirement / "key").value == key:
            return (requirement / "values").at
    return requirements.at


KINDS = {
    "karpenter.k8s.aws/EC2NodeClass": node_class,
    "karpenter.sh/NodePool": node_pool,
    "karpenter.sh/NodeOverlay": node_overlay,
}
