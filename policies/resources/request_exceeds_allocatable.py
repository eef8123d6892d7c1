from __future__ import annotations

from collections.abc import Iterator

from compiler.plan import Quantity
from compiler.plan.jobs import HUGEPAGES
from compiler.plan.nodes import POOL_LABEL
from compiler.policy.fit import node_room
from compiler.policy.rule import Finding, rule
from compiler.policy.work import Work
from compiler.policy.world import World


@rule("LIM002", aliases=("request-over-allocatable",), pods=True)
def request_exceeds_allocatable(work: Work, world: World) -> Iterator[Finding]:
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
    if not work.types or asked_devices > max(
        instance.accelerators for instance in work.types
    ):
        return  # what was asked for the devices of another type is reported as that
    rooms = [
        (*node_room(*offer, world, huge_pages=HUGEPAGES in work.asks), offer[1].name)
        for offer in work.offers
    ]
    cpu, memory = (
        max(rooms, key=lambda each: each[0]),
        max(rooms, key=lambda each: each[1]),
    )
    over = [
        each
        for each in (
            ("cpu", f"{cpu[0]}m", Quantity(cpu[0]), cpu[2], cpu[3]),
            (
                "memory",
                _rounded(memory[1]),
                Quantity.mib(memory[1]),
                memory[2],
                memory[3],
            ),
        )
        if (asked := work.asks.get(each[0])) is not None and asked > each[2]
    ]
    # In third-party manifests the type may be what is wrong, and then both are one fault.
    told = over if world.plan.closed else over[:1]
    for resource, text, _, steps, name in told:
        more = tuple(
            f"and for {work.asks[each[0]]} of `{each[0]}`, of which there is {each[1]}"
            for each in over[len(told) :]
        )
        yield Finding(
            f"{work.title} asks for {work.asks[resource]} of `{resource}` a node, and pods can get {text} of "
            f"`{name}`",
            work.place(resource),
            label="its pods stay Pending",
            help=_limit(work, world, resource, text),
            notes=(*more, *steps),
        )


def _limit(work: Work, world: World, resource: str, text: str) -> str:
    """The most that a job can ask for, where all is known that runs on the nodes."""
    pools = [
        world.plan.shares.get(pool.labels.get(POOL_LABEL, pool.name))
        for pool in work.pools
    ]
    most = [pool[resource] for pool in pools if pool is not None]
    if most and len(most) == len(pools):
        return f"ask for at most {max(most)}"
    return f"ask for at most {text}, less what the DaemonSets of the cluster take"


def _rounded(mib: int) -> str:
    """MiB as a limit that people write: whole GiB, rounded down."""
    return f"{mib // 1024}Gi" if mib >= 1024 else f"{mib}Mi"
