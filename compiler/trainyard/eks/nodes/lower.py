"""Lower: Karpenter's EC2NodeClass, NodePool and NodeOverlay (karpenter-provider-aws v1.14.1), and the NodeClass of EKS
Auto Mode (EKS user guide, create-node-class, read 2026-11)."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.launch.plan import BlockDevice, NetworkInterface
from trainyard.eks.nodes.plan import (
    BLOCK_ENDS,
    AutoNodeClass,
    EC2NodeClass,
    NodeClass,
    NodeOverlay,
    NodePool,
    SelectorTerm,
)
from trainyard.eks.nodes.user_data import user_data
from trainyard.output.artifact import Places
from trainyard.output.lowering.body import (
    NO_PRUNE,
    fields_given,
    manifest_in,
    object_head,
    quantities,
    taint_bodies,
)
from trainyard.output.manifest import Body, Manifest
from trainyard.plan import Plan
from trainyard.plan.scheduling import Requirement

FOLDER = "platform"


def lower(plan: Plan) -> Iterator[Manifest]:
    """A class and a NodePool for every pool, and an overlay where Karpenter has to know more."""
    for node in plan.of(EC2NodeClass):
        yield manifest_in(FOLDER, node_class(node), node.at, _class_origins(node))
    for auto in plan.of(AutoNodeClass):
        yield manifest_in(FOLDER, auto_node_class(auto), auto.at, _auto_origins(auto))
    for pool in plan.of(NodePool):
        yield manifest_in(FOLDER, node_pool(pool), pool.at, _pool_origins(pool))
    for overlay in plan.of(NodeOverlay):
        body = node_overlay(overlay)
        places: Places = {("spec", "capacity"): overlay.where("capacity")}
        yield manifest_in(FOLDER, body, overlay.at, places)


def _class_origins(node: NodeClass) -> Places:
    places: Places = {
        ("spec", "networkInterfaces"): node.where("interfaces"),
        ("spec", "capacityReservationSelectorTerms"): node.where("reservations"),
        ("spec", "placementGroupSelector"): node.where("placement_group"),
        **_disk_origins(node),
        ("spec", "instanceStorePolicy"): node.where("instance_store"),
    }
    places |= _block_origins(node)
    if node.boot.runs:
        places["spec", "userData"] = node.where("boot")
    if "ami_alias" in node.origins:
        places["spec", "amiSelectorTerms"] = node.where("ami_alias")
    return places


def _block_origins(node: NodeClass) -> Places:
    if BLOCK_ENDS in node.annotations:
        return {("metadata", "annotations", BLOCK_ENDS): node.where("annotations")}
    return {}


def _disk_origins(node: NodeClass) -> Places:
    """The one disk of ours, which the spec describes by keys of its own."""
    disks = ("spec", "blockDeviceMappings")
    at = node.where("block_devices")
    return {
        disks: at,
        (*disks, 0, "ebs", "volumeSize"): at / "size",
        (*disks, 0, "ebs", "iops"): at / "iops",
        (*disks, 0, "ebs", "throughput"): at / "throughput",
    }


def _auto_origins(node: AutoNodeClass) -> Places:
    return {
        ("spec", "advancedNetworking"): node.where("interfaces"),
        ("spec", "capacityReservationSelectorTerms"): node.where("reservations"),
        ("spec", "placementGroupSelector"): node.where("placement_group"),
        ("spec", "ephemeralStorage"): node.where("block_devices"),
        **_block_origins(node),
    }


def _pool_origins(pool: NodePool) -> Places:
    template = ("spec", "template", "spec")
    return {
        ("spec", "limits"): pool.where("limits"),
        ("spec", "replicas"): pool.where("replicas"),
        (*template, "taints"): pool.where("taints"),
        ("spec", "template", "metadata", "labels"): pool.where("labels"),
        (*template, "requirements", 0): pool.where("instance_types"),
        (*template, "requirements", 1): pool.where("zones"),
        (*template, "requirements", 2): pool.where("capacity_types"),
    }


def node_class(node: NodeClass) -> Body:
    """karpenter.k8s.aws/v1 EC2NodeClass."""
    metadata = _class_head("karpenter.k8s.aws/v1", "EC2NodeClass", node)
    spec = fields_given(
        role=node.role,
        instanceProfile=node.instance_profile,
        amiSelectorTerms=[{"alias": node.ami_alias}] if node.ami_alias else None,
        **_selectors(node),
        networkInterfaces=_interfaces(node.interfaces),
        instanceStorePolicy=node.instance_store,
        blockDeviceMappings=_devices(node.block_devices),
        metadataOptions=_metadata_options(node.metadata_hops),
        userData=user_data(node.boot),
        tags=dict(node.tags),
    )
    return {**metadata, "spec": spec}


def auto_node_class(node: AutoNodeClass) -> Body:
    """eks.amazonaws.com/v1 NodeClass."""
    metadata = _class_head("eks.amazonaws.com/v1", "NodeClass", node)
    spec = fields_given(
        role=node.role,
        instanceProfile=node.instance_profile,
        **_selectors(node),
        snatPolicy=node.snat_policy,
        networkPolicy=node.network_policy,
        ephemeralStorage=_ephemeral(node.ephemeral),
        advancedNetworking=fields_given(networkInterfaces=_auto_interfaces(node)),
        tags=dict(node.tags),
    )
    return {**metadata, "spec": spec}


def _class_head(api_version: str, kind: str, node: NodeClass) -> Body:
    annotations = dict(node.annotations)
    if not node.prune:
        annotations.update(NO_PRUNE)
    return object_head(api_version, kind, node.name, annotations=annotations)


def _selectors(node: NodeClass) -> Body:
    """What both kinds of node classes select nodes' surroundings by."""
    return {
        "subnetSelectorTerms": _terms(node.subnets),
        "securityGroupSelectorTerms": _terms(node.security_groups),
        "capacityReservationSelectorTerms": _terms(node.reservations),
        "placementGroupSelector": fields_given(name=node.placement_group),
    }


def _ephemeral(volume: BlockDevice | None) -> Body:
    assert volume is not None, "what is written has a size"
    return fields_given(size=str(volume.size), iops=volume.iops, throughput=volume.throughput)


def _auto_interfaces(node: AutoNodeClass) -> list[Body]:
    """The interfaces, the first of which has the addresses of pods."""
    interfaces = _interfaces(node.interfaces)
    if interfaces and node.prefixes is not None:
        interfaces[0]["secondaryIPv4PrefixCount"] = node.prefixes
    return interfaces


def _interfaces(interfaces: tuple[NetworkInterface, ...]) -> list[Body]:
    return [
        {
            "networkCardIndex": interface.card,
            "deviceIndex": interface.device,
            "interfaceType": interface.type,
        }
        for interface in interfaces
    ]


def _metadata_options(hops: int | None) -> Body:
    assert hops is not None, "what is written has a limit"
    return {"httpEndpoint": "enabled", "httpTokens": "required", "httpPutResponseHopLimit": hops}


def _terms(terms: tuple[SelectorTerm, ...]) -> list[Body]:
    return [_term(term) for term in terms]


def _term(term: SelectorTerm) -> Body:
    if term.id:
        return {"id": term.id}
    return {"tags": dict(term.tags)}


def _devices(devices: tuple[BlockDevice, ...]) -> list[Body]:
    return [_device(device) for device in devices]


def _device(device: BlockDevice) -> Body:
    return {
        "deviceName": device.device,
        "ebs": fields_given(
            volumeSize=str(device.size),
            volumeType=device.type,
            iops=device.iops,
            throughput=device.throughput,
            encrypted=device.encrypted,
            deleteOnTermination=True,
        ),
    }


def node_pool(pool: NodePool) -> Body:
    """karpenter.sh/v1 NodePool. A static pool has ``replicas`` and no consolidation."""
    annotations = None if pool.prune else NO_PRUNE
    group, kind = ("karpenter.k8s.aws", "EC2NodeClass")
    if pool.auto:
        group, kind = ("eks.amazonaws.com", "NodeClass")
    node_class_ref = {"group": group, "kind": kind, "name": pool.node_class}
    template = fields_given(
        metadata=fields_given(labels=dict(pool.labels)),
        spec=fields_given(
            nodeClassRef=node_class_ref,
            requirements=_requirements(pool.requirements),
            taints=taint_bodies(pool.taints),
            startupTaints=taint_bodies(pool.startup_taints),
            expireAfter=pool.expire_after,
            terminationGracePeriod=pool.termination_grace,
        ),
    )
    budgets = [
        fields_given(nodes=budget.nodes, reasons=list(budget.reasons)) for budget in pool.budgets
    ]
    disruption = fields_given(
        consolidationPolicy=pool.consolidation,
        consolidateAfter=pool.consolidate_after,
        budgets=budgets,
    )
    spec = fields_given(
        replicas=pool.replicas,
        template=template,
        limits=quantities(pool.limits),
        disruption=disruption,
    )
    metadata = object_head("karpenter.sh/v1", "NodePool", pool.name, annotations=annotations)
    return {**metadata, "spec": spec}


def node_overlay(overlay: NodeOverlay) -> Body:
    """karpenter.sh/v1alpha1 NodeOverlay."""
    return {
        **object_head("karpenter.sh/v1alpha1", "NodeOverlay", overlay.name),
        "spec": fields_given(
            requirements=_requirements(overlay.requirements), capacity=quantities(overlay.capacity)
        ),
    }


def _requirements(requirements: tuple[Requirement, ...]) -> list[Body]:
    return [
        fields_given(
            key=requirement.key, operator=requirement.operator, values=list(requirement.values)
        )
        for requirement in requirements
    ]
