"""Whether the system's nodes have room for the controllers."""

from __future__ import annotations

from compiler.catalog import allocatable, max_pods
from compiler.context import Context
from compiler.platforms.eks.settings.spec import AT_EKS, ClusterSection
from compiler.platforms.eks.system.controllers import Needs, needs

_REQUESTS = "values.yaml of the charts of kueue v0.19.2, jobset v0.12.0 and karpenter v1.14.1"


def check_system(context: Context) -> None:
    """Whether the system's nodes have room for what runs on them. With EKS Auto Mode there are as many as it takes."""
    if ClusterSection.of(context.spec).auto_mode is not None:
        return
    system, at = (ClusterSection.of(context.spec).eks.system_nodes, AT_EKS / "systemNodes")
    instance = context.catalog.instance(system.instance_type)
    if instance is None or instance.accelerators:
        return
    node = allocatable(instance, huge_pages=False, vm_overhead=0)
    wanted: Needs = needs(context, instance, system.nodes)
    for what, unit, have, need in (
        ("CPU", "m", node.cpu_milli * system.nodes, wanted.cpu_milli),
        ("memory", "Mi", node.memory_mib * system.nodes, wanted.memory_mib),
        ("pods", "", max_pods(instance) * system.nodes, wanted.pods),
    ):
        if have < need:
            context.fault(
                "RES042",
                f"{system.nodes} nodes of `{instance.name}` "
                f"have {have}{unit} {what} for pods, and "
                f"the controllers on them ask for {need}{unit}",
                at / "instanceType",
                "take a larger type, like `m7i.2xlarge`, or more `nodes`",
                source=_REQUESTS,
            )
            return
    lacks_cpu = node.cpu_milli < wanted.each_cpu
    if lacks_cpu or node.memory_mib < wanted.each_memory:
        context.fault(
            "RES042",
            f"a node of `{instance.name}` has {node.cpu_milli}m CPU "
            f"and {node.memory_mib}Mi for "
            f"pods, and Karpenter with the node's agents asks for {wanted.each_cpu}m and "
            f"{wanted.each_memory}Mi",
            at / "instanceType",
            "take a larger type, like `m7i.2xlarge`",
            source=_REQUESTS,
        )
