"""DaemonSets that the spec includes: they take room on nodes as those of add-ons do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from compiler.catalog import InstanceType
from compiler.context import Context
from compiler.core.pools.spec import NodePool
from compiler.output.body import at, items
from compiler.plan.scheduling import INSTANCE_TYPE, POOL_LABEL
from compiler.platforms.eks.addons.addon import Daemon
from compiler.platforms.eks.nodes.requested import requested

_POD = ("spec", "template", "spec")
_NODEPOOL = "karpenter.sh/nodepool"
_ALWAYS = "Always"


def included_daemons(context: Context, pool: NodePool, instance: InstanceType) -> Iterator[Daemon]:
    """Those that may land on a node of a pool: its selector names no other pool and no other type. Taints are not
    looked at, since DaemonSets of agents tolerate them; affinity is not read."""
    for each in context.included:
        if each.body.get("kind") != "DaemonSet":
            continue
        pod = at(each.body, *_POD)
        if isinstance(pod, Mapping) and _may_land(pod, pool, instance):
            cpu, memory = _asks(pod, "cpu"), _asks(pod, "memory")
            name = str(at(each.body, "metadata", "name"))
            yield Daemon(name, cpu, -(-memory // (1000 * 1024**2)), each.file)


def _may_land(pod: Mapping[str, Any], pool: NodePool, instance: InstanceType) -> bool:
    selector = pod.get("nodeSelector")
    if not isinstance(selector, Mapping):
        return True
    known = {POOL_LABEL: pool.name, _NODEPOOL: pool.name, INSTANCE_TYPE: instance.name}
    return all(known.get(label, value) == value for label, value in selector.items())


def _asks(pod: Mapping[str, Any], resource: str) -> int:
    """What the scheduler counts of a pod, in thousandths: its containers and sidecars, or the largest init container
    beside the sidecars before it (Kubernetes 1.33, KEP-753)."""
    sidecars, most = 0, 0
    for container in items(pod, "initContainers"):
        asked = _amount(container, resource)
        if container.get("restartPolicy") == _ALWAYS:
            sidecars += asked
            most = max(most, sidecars)
        else:
            most = max(most, sidecars + asked)
    running = sidecars + sum(_amount(each, resource) for each in items(pod, "containers"))
    return max(running, most)


def _amount(container: Mapping[str, Any], resource: str) -> int:
    found = requested(container.get("resources"), resource)
    return found.milli if found is not None else 0
