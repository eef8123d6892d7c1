from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trainyard.core.pods.plan import HUGEPAGES, Resources
from trainyard.core.pools.plan import NodeShare
from trainyard.judge.model.fit import asked_by_containers, node_room
from trainyard.judge.model.spelling import spec_key
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.plan import Quantity


@rule("LIM002", aliases=("request-over-allocatable",), pods=True)
def request_exceeds_allocatable(work: Work, world: World) -> Iterator[Finding]:
    """A job asks for more CPU or memory than a node can give to pods.

    Of what the type has, Karpenter's overhead of 7.5 %, the kubelet's reservation, the eviction threshold and the
    EFA driver's huge pages are gone before pods are placed (karpenter-provider-aws v1.14.1 types.go; EKS user
    guide, node-efa): "Insufficient memory", Pending for ever.

    ## Fails

        jobs: [{name: llama, resources: {memory: 1150Gi}}]

        jobs: [{name: llama, resources: {cpu: 96}}]

        patches:
          - target: {kind: ClusterTrainingRuntime}
            patch:
              - op: add
                path: /spec/template/spec/replicatedJobs/0/template/spec/template/spec/initContainers
                value: [{name: logs, image: "team/logs:1.0", restartPolicy: Always,
                  resources: {limits: {cpu: 8, memory: 1Gi}}}]

    ## Passes

        jobs: [{name: llama, resources: {memory: 1000Gi, cpu: 90}}]
    """
    if not work.types:
        return
    if work.accelerator:
        devices = work.accelerator[1]
    else:
        devices = 0
    if devices > max(instance.accelerators for instance in work.types):
        return  # LIM001 reports a request that was written for another type
    asks = work.pod_asks
    over = [room for room in _rooms(work, world) if _is_exceeded(asks, room)]
    # In third-party manifests the type may be what is wrong, and then both are one fault.
    if world.plan.closed:
        reported = over
    else:
        reported = over[:1]
    more = []
    for room in over[len(reported) :]:
        asked = asks[room.resource]
        more.append(f"and for {asked} of `{room.resource}`, where there is {room.text}")
    for room in reported:
        resource = room.resource
        key = spec_key(resource)
        asked = asks[resource]
        others = asked - work.asks.get(resource, Quantity(0))
        most = _limit(work, world, room, others)
        instead = (
            "which leaves room for the others" if others else "or remove it to have it derived"
        )
        by_container = asked_by_containers(work, resource) if others else {}
        shares = [f"container `{name}`: {amount}" for name, amount in by_container.items()]
        yield Finding(
            f"{work.title} asks for {asked} of `{resource}` a node, and {_who(work)} can get {room.text} of "
            f"`{room.type}`",
            work.place(resource),
            label="its pods stay Pending" if work.has_pods else "no node ever fits",
            help=f"ask for {most}",
            spec_help=f"write `resources.{key}` of {most}, {instead}",
            notes=(*more, *shares, *room.steps),
        )


def _who(work: Work) -> str:
    return "pods" if work.has_pods else "jobs"


class _Room(NamedTuple):
    """The most of a resource that pods can get on a node: as people write it, the amount, how it comes about, and the
    instance type."""

    resource: str
    text: str
    amount: Quantity
    steps: tuple[str, ...]
    type: str


def _rooms(work: Work, world: World) -> tuple[_Room, _Room]:
    """The most CPU and the most memory among the nodes that a job may get."""
    pages = HUGEPAGES in work.asks
    cpus: list[_Room] = []
    memories: list[_Room] = []
    for pool, instance in work.offers:
        milli, mib, steps = node_room(pool, instance, world, huge_pages=pages)
        cpus.append(_Room("cpu", f"{milli}m", Quantity(milli), steps, instance.name))
        memories.append(_Room("memory", _rounded(mib), Quantity.mib(mib), steps, instance.name))
    return max(cpus, key=_amount), max(memories, key=_amount)


def _amount(room: _Room) -> Quantity:
    return room.amount


def _is_exceeded(asks: Resources, room: _Room) -> bool:
    asked = asks.get(room.resource)
    return asked is not None and asked > room.amount


def _limit(work: Work, world: World, room: _Room, others: Quantity) -> str:
    """The most that a program can ask for, where all is known that runs on the nodes; ``others`` is what the other
    containers of its pod ask for."""
    most = []
    for pool in work.pools:
        share = world.plan.named(NodeShare, pool.title)
        if share is not None:
            most.append(share.resources[room.resource])
    if most and len(most) == len(work.pools):
        return f"at most {max(most) - others}"
    if not work.has_pods:
        return f"at most {room.text}"
    daemons = "the DaemonSets of the cluster"
    who = f"its other containers and {daemons}" if others else daemons
    return f"at most {room.text}, minus what {who} take"


def _rounded(mib: int) -> str:
    """MiB as a limit that people write: whole GiB, rounded down."""
    if mib >= 1024:
        return f"{mib // 1024}Gi"
    return f"{mib}Mi"
