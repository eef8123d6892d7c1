"""Lift: EC2NodeClass, the NodeClass of EKS Auto Mode, NodePool and NodeOverlay."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.catalog.ami_families import AmiFamily, of_alias, of_karpenter
from trainyard.core.launch.plan import BlockDevice, BootScript, NetworkInterface
from trainyard.eks.nodes.plan import (
    AutoNodeClass,
    Boot,
    Budget,
    EC2NodeClass,
    NodeOverlay,
    NodePool,
    SelectorTerm,
)
from trainyard.language.places import Route
from trainyard.lift.pods import taints
from trainyard.lift.reader import Reader, annotations_of, name_of, pruned, unread
from trainyard.plan.base import PlanItem
from trainyard.plan.scheduling import CAPACITY_TYPE, INSTANCE_TYPE, ZONE, Requirement


def node_class(body: Reader) -> Iterator[PlanItem]:
    """EC2NodeClass."""
    spec = body / "spec"
    images = spec / "amiSelectorTerms"
    aliases = _texts(images, "alias")
    metadata = spec / "metadataOptions"
    hops = metadata / "httpPutResponseHopLimit"
    public = spec / "associatePublicIPAddress"
    has_user_data = bool(spec / "userData")
    boot = boot_of((spec / "userData").word())
    family = _family(aliases, (spec / "amiFamily").word())
    own_user_data = has_user_data and not boot.runs
    yield EC2NodeClass(
        at=body.at,
        name=name_of(body),
        ami_alias=aliases[0] if aliases else None,
        role=(spec / "role").text(),
        instance_profile=(spec / "instanceProfile").text(),
        ami_family=(spec / "amiFamily").text(),
        ami_names=_texts(images, "name"),
        ami_parameters=_texts(images, "ssmParameter"),
        origins={
            "role": (spec / "role").at,
            "instance_profile": (spec / "instanceProfile").at,
            "interfaces": (spec / "networkInterfaces").at,
            "block_devices": (spec / "blockDeviceMappings").at,
            "instance_store": (spec / "instanceStorePolicy").at,
            "ami_alias": images.at,
            "ami_parameters": images.at,
            "ami_names": images.at,
            "image": images.at if aliases else (spec / "amiFamily").at,
            "http_tokens": (metadata / "httpTokens").at,
            "metadata_hops": hops.at,
            "public": public.at,
            **_selected_at(spec),
        },
        image=family.alias if family is not None else "",
        own_image=not aliases or len(aliases) < len(images.items()),
        scripts=scripts(spec / "userData"),
        http_tokens=(metadata / "httpTokens").text(),
        public=public.flag(),
        subnets=_terms(spec / "subnetSelectorTerms"),
        security_groups=_terms(spec / "securityGroupSelectorTerms"),
        reservations=_terms(spec / "capacityReservationSelectorTerms"),
        placement_group=_placement_group(spec),
        interfaces=tuple(_interfaces(spec / "networkInterfaces")),
        instance_store=(spec / "instanceStorePolicy").text(),
        block_devices=tuple(_devices(spec / "blockDeviceMappings")),
        metadata_hops=hops.integer(),
        tags=(spec / "tags").strings(),
        annotations=annotations_of(body),
        own_kubelet=own_user_data or bool(spec / "kubelet"),
        user_data=has_user_data,
        boot=boot,
        prune=pruned(body),
    )


def _family(aliases: tuple[str, ...], name: str) -> AmiFamily | None:
    """The family of a class: by its alias, or by the ``amiFamily`` beside other ways to select an image."""
    named = (of_alias(alias) for alias in aliases)
    return next(filter(None, named), None) or of_karpenter(name)


def scripts(*values: Reader) -> tuple[BootScript, ...]:
    """The texts that nodes run."""
    return tuple(BootScript(value.word(), value.at) for value in values if value.word())


def _selected_at(spec: Reader) -> dict[str, Route]:
    """Where both kinds of node classes say what they select, and their role."""
    return {
        "placement_group": (spec / "placementGroupSelector").at,
        "reservations": (spec / "capacityReservationSelectorTerms").at,
        "subnets": (spec / "subnetSelectorTerms").at,
        "security_groups": (spec / "securityGroupSelectorTerms").at,
        "role": (spec / "role").at,
    }


def _placement_group(spec: Reader) -> str | None:
    """The name or the id of the placement group."""
    group = spec / "placementGroupSelector"
    name = (group / "name").text()
    return name or (group / "id").text()


def auto_node_class(body: Reader) -> Iterator[PlanItem]:
    """NodeClass of EKS Auto Mode (EKS user guide, create-node-class)."""
    spec = body / "spec"
    storage = spec / "ephemeralStorage"
    interfaces = spec.follow("advancedNetworking", "networkInterfaces")
    public = spec.follow("advancedNetworking", "associatePublicIPAddress")
    first = interfaces.items()[:1]
    prefixes = [(entry / "secondaryIPv4PrefixCount").integer() for entry in first]
    size = (storage / "size").quantity()
    ephemeral = None
    if size is not None:
        ephemeral = BlockDevice(
            "",
            size,
            iops=(storage / "iops").integer(),
            throughput=(storage / "throughput").integer(),
        )
    yield AutoNodeClass(
        at=body.at,
        name=name_of(body),
        role=(spec / "role").text(),
        instance_profile=(spec / "instanceProfile").text(),
        origins={
            "role": (spec / "role").at,
            "instance_profile": (spec / "instanceProfile").at,
            "interfaces": interfaces.at,
            "block_devices": storage.at,
            "public": public.at,
            **_selected_at(spec),
        },
        subnets=_terms(spec / "subnetSelectorTerms"),
        security_groups=_terms(spec / "securityGroupSelectorTerms"),
        reservations=_terms(spec / "capacityReservationSelectorTerms"),
        placement_group=_placement_group(spec),
        interfaces=tuple(_interfaces(interfaces)),
        tags=(spec / "tags").strings(),
        annotations=annotations_of(body),
        prune=pruned(body),
        image="bottlerocket",  # EKS user guide, ml-node-pools, commit 80436be5
        public=public.flag(),
        ephemeral=ephemeral,
        prefixes=prefixes[0] if prefixes else None,
        snat_policy=(spec / "snatPolicy").text(),
        network_policy=(spec / "networkPolicy").text(),
    )


_CUT = r"(?m)^\s*nvidia-smi mig -cgi (\S+) -C\s*$"
_OF_KUBELET = ("NodeConfig", "kubelet", "nodeadm.d", "hugepages")


def boot_of(user_data: str) -> Boot:
    """What user data makes nodes do, unless it also configures the kubelet."""
    if any(word in user_data for word in _OF_KUBELET):
        return Boot()
    cut = None
    if "nvidia-smi mig" in user_data:
        cut = re.search(_CUT, user_data)
    return Boot(
        mig=tuple(cut[1].split(",")) if cut is not None else (),
        locked_memory="LimitMEMLOCK=infinity" in user_data,
        lustre_settings="lru_max_age" in user_data,
        lustre_efa="lnetctl net add --net efa" in user_data,
    )


def _texts(terms: Reader, key: str) -> tuple[str, ...]:
    """The texts of a key of the terms that have it."""
    texts = [(term / key).text() for term in terms.items()]
    return tuple(text for text in texts if text)


def _terms(terms: Reader) -> tuple[SelectorTerm, ...]:
    selectors = []
    for term in terms.items():
        tags = (term / "tags").strings()
        identifier = (term / "id").word()
        selectors.append(SelectorTerm(id=identifier, tags=tags))
    return tuple(selectors)


def _interfaces(interfaces: Reader) -> Iterator[NetworkInterface]:
    for interface in interfaces.items():
        card = (interface / "networkCardIndex").integer()
        device = (interface / "deviceIndex").integer()
        if card is not None and device is not None:
            kind = (interface / "interfaceType").word()
            yield NetworkInterface(card, device, kind, at=interface.at)


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
                device.at,
                (ebs / "volumeSize").at,
            )


# Groups of node classes: those without are Karpenter's own.
_KARPENTER, _AUTO_MODE = (None, "karpenter.k8s.aws"), "eks.amazonaws.com"


def node_pool(body: Reader) -> Iterator[PlanItem]:
    """NodePool."""
    spec = body / "spec"
    template = spec.follow("template", "spec")
    disruption = spec / "disruption"
    labels = spec.follow("template", "metadata", "labels")
    ref = template / "nodeClassRef"
    auto = (ref / "group").value == _AUTO_MODE
    known = auto or (ref / "group").value in _KARPENTER
    if known:
        node_class = (ref / "name").word()
    else:
        node_class = ""
    requirements = template / "requirements"
    entries = (disruption / "budgets").items()
    budgets = [_budget(budget) for budget in entries]
    yield NodePool(
        at=body.at,
        name=name_of(body),
        node_class=node_class,
        auto=auto,
        unread=unread(limits=spec / "limits", replicas=spec / "replicas"),
        origins={
            "limits": (spec / "limits").at,
            "replicas": (spec / "replicas").at,
            "taints": (template / "taints").at,
            "labels": labels.at,
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
        labels=labels.strings(),
        taints=taints(template / "taints"),
        startup_taints=taints(template / "startupTaints"),
        requirements=_requirements(requirements),
        limits=(spec / "limits").quantities(),
        replicas=(spec / "replicas").integer(),
        consolidation=(disruption / "consolidationPolicy").text(),
        consolidate_after=(disruption / "consolidateAfter").text(),
        budgets=tuple(budgets),
        expire_after=(template / "expireAfter").text(),
        termination_grace=(template / "terminationGracePeriod").text(),
        prune=pruned(body),
    )


def _budget(body: Reader) -> Budget:
    return Budget(
        nodes=(body / "nodes").word(),
        reasons=(body / "reasons").texts(),
        schedule=(body / "schedule").word(),
    )


def node_overlay(body: Reader) -> Iterator[PlanItem]:
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
    """The place of a key's values; that of the requirements where it has none."""
    for requirement in requirements.items():
        if (requirement / "key").value == key:
            return (requirement / "values").at
    return requirements.at


KINDS = {
    "karpenter.k8s.aws/EC2NodeClass": node_class,
    "eks.amazonaws.com/NodeClass": auto_node_class,
    "karpenter.sh/NodePool": node_pool,
    "karpenter.sh/NodeOverlay": node_overlay,
}
