"""What patches of DaemonSets, and of releases that bring some, leave of a node for jobs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from trainyard.catalog import Catalog, InstanceType
from trainyard.core.pools.plan import NodeShare, Pool
from trainyard.eks.addons import addons
from trainyard.eks.addons.addon import Daemon
from trainyard.eks.nodes.included import POD, asked, may_land
from trainyard.eks.nodes.requested import requests_in
from trainyard.language.units import Quantity
from trainyard.output import Artifact
from trainyard.output.artifact import ObjectRef
from trainyard.output.body import value_at
from trainyard.output.manifest import Body, Manifest
from trainyard.plan import Plan

_DAEMON_SET = "DaemonSet"
_RELEASE = "HelmRelease"
Agents = Mapping[ObjectRef, Body]


def agents(artifacts: Sequence[Artifact]) -> Agents:
    """The objects that bring pods to every node, as they are now."""
    return {
        each.ref: each.body
        for each in artifacts
        if isinstance(each, Manifest) and each.ref.kind in (_DAEMON_SET, _RELEASE)
    }


def with_room(plan: Plan, catalog: Catalog, before: Agents, after: Agents) -> Plan:
    """A plan whose pools have what is left of a node beside the DaemonSets that patches made larger or smaller."""
    changed = [
        (ref, body, after[ref])
        for ref, body in before.items()
        if ref in after and after[ref] is not body
    ]
    if not changed:
        return plan
    pools = {pool.title: pool for pool in plan.of(Pool)}
    nodes = [
        _changed(node, pools[node.name], catalog, changed)
        if isinstance(node, NodeShare) and node.name in pools
        else node
        for node in plan.items
    ]
    return replace(plan, items=tuple(nodes))


def _changed(
    share: NodeShare, pool: Pool, catalog: Catalog, changed: Sequence[tuple[ObjectRef, Body, Body]]
) -> NodeShare:
    cpu = memory = 0
    for ref, before, after in changed:
        for more_cpu, more_memory in _more(ref, before, after, pool, catalog):
            cpu += more_cpu
            memory += more_memory
    more = {"cpu": Quantity(cpu), "memory": Quantity.mib(memory)}
    return replace(
        share,
        left={name: amount - more[name] for name, amount in share.left.items()},
        agents={name: amount + more[name] for name, amount in share.agents.items()},
    )


def _more(
    ref: ObjectRef, before: Body, after: Body, pool: Pool, catalog: Catalog
) -> Iterator[tuple[int, int]]:
    """Milli-CPU and MiB that pods of an object request more than they did, on a node of a pool."""
    types = [catalog.instance(name) for name in pool.instance_types or ()]
    if ref.kind == _DAEMON_SET:
        pod = value_at(after, *POD)
        if may_land(pod, pool.title, pool.instance_types or ()) and _comes(ref.name, types):
            cpu, memory = asked(pod)
            cpu_before, memory_before = asked(value_at(before, *POD))
            yield cpu - cpu_before, memory - memory_before
        return
    addon = addons().get(ref.name)
    for daemon in addon.daemons if addon is not None else ():
        if _may_come(daemon, types):
            cpu, memory, _ = requests_in(_values(after), daemon)
            cpu_before, memory_before, _ = requests_in(_values(before), daemon)
            yield cpu - cpu_before, memory - memory_before


def _values(release: Body) -> Mapping[str, Any]:
    found = value_at(release, "spec", "values")
    return found if isinstance(found, Mapping) else {}


def _comes(name: str, types: Sequence[InstanceType | None]) -> bool:
    """Whether a DaemonSet comes to nodes of these types: one that no add-on has comes to all."""
    known = [each for addon in addons().values() for each in addon.daemons if each.name == name]
    return not known or any(_may_come(each, types) for each in known)


def _may_come(daemon: Daemon, types: Sequence[InstanceType | None]) -> bool:
    return not types or any(each is None or daemon.on(each) for each in types)
