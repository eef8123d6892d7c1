from __future__ import annotations

from collections.abc import Iterator

from compiler.plan.jobs import HUGEPAGES
from compiler.policy.fit import node_room
from compiler.policy.rule import Finding, rule
from compiler.policy.work import Work
from compiler.policy.world import World


@rule("LIM002")
def request_over_allocatable(work: Work, world: World) -> Iterator[Finding]:
    """A job asks for more CPU or memory than a node can give to pods.

    Of what the type has, Karpenter's overhead of 7.5 %, the kubelet's reservation, the eviction threshold and the
    EFA driver's huge pages are gone before pods are placed (karpenter-provider-aws v1.14.1 types.go; EKS user
    guide, node-efa): "Insufficient memory", Pending for ever.

    ## Fails

        jobs: [{name: llama, resources: {memory: 1150Gi}}]

        jobs: [{name: llama, resources: {cpu: 96}}]

    ## Passes

        jobs: [{name: llama, resources: {memory: 1000Gi, cpu: 90}}]
    """
    asked_devices = work.accelerator[1] if work.accelerator else 0
    if not work.types or asked_devices > max(each.accelerators for each in work.types):
        return  # what was asked for the devices of another type is told as that
    most = [node_room(each, world, huge_pages=HUGEPAGES in work.asks) for each in work.types]
    largest = max(range(len(most)), key=lambda index: most[index][:2])
    cpu, memory, steps = most[largest]
    memory = max(each[1] for each in most)
    for resource, has, unit in (("cpu", cpu, "m"), ("memory", memory, "Mi")):
        asked = work.asks.get(resource)
        amount = 0.0 if asked is None else asked.milli if resource == "cpu" else asked.value / 1024**2
        if amount > has:
            yield Finding(
                f"job `{work.name}` asks for {asked} of `{resource}` a node, and pods can get {has}{unit} of "
                f"`{work.types[largest].name}`", work.place(resource), label="its pods stay Pending",
                help=f"ask for at most {has}{unit}, less what DaemonSets take", notes=steps,
            )
