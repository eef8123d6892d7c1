"""Target: Karpenter's EC2NodeClass, NodePool and NodeOverlay (karpenter-provider-aws v1.14.1)."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.manifest import Body, Manifest
from compiler.plan import Plan
from compiler.subjects.pools.plan import (
    BlockDevice,
    NodeClass,
    NodeOverlay,
    NodePool,
    Requirement,
    SelectorTerm,
)
from compiler.targets.body import NO_PRUNE, given, head, path, quantities, taints

FOLDER = "platform"


def lower(plan: Plan) -> Iterator[Manifest]:
    """A class and a NodePool for every pool, and an overlay where Karpenter must be told of more."""
    for node in plan.of(NodeClass):
        body = node_class(node)
        yield Manifest(
            body,
            path(FOLDER, body),
            node.at,
            {
                **(
                    {("spec", "amiSelectorTerms"): node.where("ami_alias")}
                    if "ami_alias" in node.origins
                    else {}
                ),
                ("spec", "networkInterfaces"): node.where("interfaces"),
                ("spec", "capacityReservationSelectorTerms"): node.where(
                    "reservations"
                ),
                ("spec", "placementGroupSelector"): node.where("placement_group"),
                ("spec", "blockDeviceMappings"): node.where("block_devices"),
                ("spec", "instanceStorePolicy"): node.where("instance_store"),
            },
        )
    for pool in plan.of(NodePool):
        body = node_pool(pool)
        template = ("spec", "template", "spec")
        yield Manifest(
            body,
            path(FOLDER, body),
            pool.at,
            {
                ("spec", "limits"): pool.where("limits"),
                ("spec", "replicas"): pool.where("replicas"),
                (*template, "taints"): pool.where("taints"),
                ("spec", "template", "metadata", "labels"): pool.where("labels"),
                (*template, "requirements", 0): pool.where("instance_types"),
                (*template, "requirements", 1): pool.where("zones"),
                (*template, "requirements", 2): pool.where("capacity_types"),
            },
        )
    for overlay in plan.of(NodeOverlay):
        body = node_overlay(overlay)
        yield Manifest(
            body,
            path(FOLDER, body),
            overlay.at,
            {("spec", "capacity"): overlay.where("capacity")},
        )


def node_class(node: NodeClass) -> Body:
    """karpenter.k8s.aws/v1 EC2NodeClass."""
    annotations = (
        dict(node.annotations) if node.prune else {**node.annotations, **NO_PRUNE}
    )
    return {
        **head(
            "karpenter.k8s.aws/v1", "EC2NodeClass", node.name, annotations=annotations
        ),
        "spec": given(
            role=node.role,
            amiSelectorTerms=[{"alias": node.ami_alias}] if node.ami_alias else None,
            subnetSelectorTerms=[_term(term) for term in node.subnets],
            securityGroupSelectorTerms=[_term(term) for term in node.security_groups],
            capacityReservationSelectorTerms=[
                _term(term) for term in node.reservations
            ],
            placementGroupSelector={"name": node.placement_group}
            if node.placement_group
            else None,
            networkInterfaces=[
                {
                    "networkCardIndex": interface.card,
                    "deviceIndex": interface.device,
                    "interfaceType": interface.type,
                }
                for interface in node.interfaces
            ],
            instanceStorePolicy=node.instance_store,
            blockDeviceMappings=[_device(device) for device in node.block_devices],
            metadataOptions={
                "httpEndpoint": "enabled",
                "httpTokens": "required",
                "httpPutResponseHopLimit": node.metadata_hops,
            }
            if node.metadata_hops is not None
            else None,
            tags=dict(node.tags),
        ),
    }


def _term(term: SelectorTerm) -> Body:
    return {"id": term.id} if term.id else {"tags": dict(term.tags)}


def _device(device: BlockDevice) -> Body:
    return {
        "deviceName": device.device,
        "ebs": given(
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
    template = given(
        metadata=given(labels=dict(pool.labels)),
        spec=given(
            nodeClassRef={
                "group": "karpenter.k8s.aws",
                "kind": "EC2NodeClass",
                "name": pool.node_class,
            },
            requirements=_requirements(pool.requirements),
            taints=taints(pool.taints),
            startupTaints=taints(pool.startup_taints),
            expireAfter=pool.expire_after,
            terminationGracePeriod=pool.termination_grace,
        ),
    )
    disruption = given(
        consolidationPolicy=pool.consolidation,
        consolidateAfter=pool.consolidate_after,
        budgets=[
            given(nodes=budget.nodes, reasons=list(budget.reasons))
            for budget in pool.budgets
        ],
    )
    return {
        **head(
            "karpenter.sh/v1",
            "NodePool",
            pool.name,
            annotations=None if pool.prune else NO_PRUNE,
        ),
        "spec": given(
            replicas=pool.replicas,
            template=template,
            limits=quantities(pool.limits),
            disruption=disruption,
        ),
    }


def node_overlay(overlay: NodeOverlay) -> Body:
    """karpenter.sh/v1alpha1 NodeOverlay."""
    return {
        **head("karpenter.sh/v1alpha1", "NodeOverlay", overlay.name),
        "spec": given(
            requirements=_requirements(overlay.requirements),
            capacity=quantities(overlay.capacity),
        ),
    }


def _requirements(requirements: tuple[Requirement, ...]) -> list[Body]:
    return [
        given(
            key=requirement.key,
            operator=requirement.operator,
            values=list(requirement.values),
        )
        for requirement in requirements
    ]
