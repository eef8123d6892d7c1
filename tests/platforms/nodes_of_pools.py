"""What a launcher says of the nodes of a pool, and the same as rules read it of what is written, both by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import Any

from trainyard.catalog import load_catalog
from trainyard.core.launch.plan import NetworkInterface
from trainyard.core.pools.plan import Pool as PlannedPool
from trainyard.core.pools.pools import Pool, placement_group
from trainyard.eks.kueue.plan import Flavor
from trainyard.eks.nodes.boot import boot_of_pool
from trainyard.eks.nodes.parts import parts
from trainyard.eks.nodes.plan import Boot, NodePool
from trainyard.eks.settings.launcher import PoolLauncher, Volume
from trainyard.judge.model.fit import node_room
from trainyard.judge.model.reading import Reading
from trainyard.plan import Plan, PlanItem
from trainyard.plan.context import Context

Facts = dict[str, Any]


def unlike(node: PlanItem, other: PlanItem | None) -> list[str]:
    """The fields in which two items of the plan differ; all of them where there is no other."""
    compared = [field.name for field in fields(node) if field.compare]
    if other is None:
        return compared
    return [name for name in compared if getattr(node, name) != getattr(other, name)]


def differing(said: Facts, seen: Facts) -> dict[str, tuple[Any, Any]]:
    """What is said in one way and seen in another; ``None`` is what nothing that is written says."""
    assert said.keys() == seen.keys()
    known = [name for name in seen if seen[name] is not None]
    return {name: (said[name], seen[name]) for name in known if said[name] != seen[name]}


def said(context: Context, launcher: PoolLauncher, pool: Pool, plan: Plan) -> Facts:
    """What the pool has, and what its launcher says of a node of it."""
    spec = pool.spec
    root = launcher.root_volume(plan, pool.name)
    if spec.root_volume is not None:
        given = spec.root_volume
        root = Volume(given.size, given.iops, given.throughput)
    boot = Boot()
    if launcher.no_commands is None:
        boot = boot_of_pool(context, pool)
    return {
        "parts": sorted(part.name for part in parts(pool)),
        "flavor": sorted(part.name for part in parts(pool)),
        "part_label": True,
        "selector": True,
        "labels": dict(spec.labels),
        "instance_labels": launcher.instance_labels,
        "taints": set(pool.taints),
        "instance_types": sorted(instance.name for instance in pool.instances),
        "zones": sorted(pool.zones),
        "nodes": pool.nodes,
        "always_on": pool.static,
        "block": pool.block,
        "spot": "spot" in spec.capacity_types,
        "reservations": sorted(each.id for each in spec.reservations),
        "placement_group": {placement_group(context.name, pool)},
        "efa": {instance.efa_interfaces for instance in pool.instances if pool.efa},
        "interfaces": {launcher.interfaces(pool.instance)},
        "efa_addresses": {launcher.efa_addresses(pool.instance)},
        "own_kubelet": False,
        "image_known": True,
        "boot": boot,
        "root_volume": root,
        "ages": launcher.ages,
        "no_room_for_share": [],
        "repairs": launcher.repairs(plan, pool.name),
    }


def seen(context: Context, launcher: PoolLauncher, pool: Pool, read: Plan) -> Facts:
    """The same of a plan that was read back."""
    world = Reading(read, load_catalog())
    found = [each for each in world.pools if each.title == pool.name]
    flavors = read.of(Flavor)
    offers = [(each, instance) for each in found for instance in world.types(each)]
    ids = {id for each in found for id in world.reservations(each).ids}
    groups = [world.placement_group(each) for each in found]
    launched = {type(node) for node in launcher.nodes(context, pool)}
    nodes: list[Any] = [node for kind in launched for node in read.of(kind)]
    interfaces = [node.interfaces for node in nodes if getattr(node, "interfaces", ())]
    expiries = {getattr(each, "expire_after", None) for each in found}
    return {
        "parts": sorted(each.name for each in found),
        "flavor": sorted(each.name for flavor in flavors for each in world.pools_of(flavor)),
        "part_label": all(world.has_label(each, launcher.part_label, each.name) for each in found),
        "selector": all(_selected(world, each, pool) for each in found),
        "labels": {key: each.labels.get(key) for each in found for key in pool.spec.labels},
        "instance_labels": all(isinstance(each, NodePool) and not each.auto for each in found),
        "taints": {taint for each in found for taint in each.taints},
        "instance_types": sorted({instance.name for _, instance in offers}),
        "zones": sorted({zone for each in found for zone in world.zones_of(each) or ()}),
        "nodes": sum(min(_most(world, each)) for each in found),
        "always_on": not any(world.starts_empty(each) for each in found),
        "block": all(world.block(each) for each in found),
        "spot": any("spot" in (each.capacity_types or ()) for each in found),
        "reservations": sorted(id for id in ids if id),
        "placement_group": {group.name if group else None for group in groups},
        "efa": {world.efa_of(each, instance) for each, instance in offers if pool.efa},
        "interfaces": {len(each) for each in interfaces} or None,
        "efa_addresses": {_addresses(each) for each in interfaces} or None,
        "image_known": all(world.ami_family(each) is not None for each in found),
        "own_kubelet": any(world.own_kubelet(each) for each in found),
        "boot": next((node.boot for node in nodes if hasattr(node, "boot")), Boot()),
        "root_volume": launcher.root_volume(read, pool.name),
        "ages": not expiries <= {None, "Never"},
        "no_room_for_share": list(_too_large(world, pool, offers)),
        "repairs": launcher.repairs(read, pool.name),
    }


def _selected(world: Reading, part: PlannedPool, pool: Pool) -> bool:
    """Whether nodes have the labels by which flavors and jobs ask for the pool, which a controller may add later."""
    ours = pool.selector.keys() - pool.launcher.ready_labels.keys()
    return all(world.has_label(part, label, pool.selector[label]) for label in ours)


def _most(world: Reading, part: PlannedPool) -> list[int]:
    most = [world.most_nodes(part, instance) for instance in world.types(part)]
    assert None not in most, f"nobody knows how many nodes `{part.name}` has"
    return [nodes for nodes in most if nodes is not None]


def _addresses(interfaces: Iterable[NetworkInterface]) -> int:
    """The addresses of interfaces on other cards than the first."""
    return sum(each.card > 0 and each.type != "efa-only" for each in interfaces)


def _too_large(world: Reading, pool: Pool, offers: list[Any]) -> Iterator[str]:
    """The types on which rules see less room than jobs and agents are told that there is."""
    cpu, memory = (
        left + agents for left, agents in zip(pool.share.left, pool.share.agents, strict=True)
    )
    for part, instance in offers:
        room = node_room(part, instance, world, huge_pages=bool(pool.share.efa))
        if room.cpu_milli < cpu or room.memory_mib < memory:
            yield instance.name
