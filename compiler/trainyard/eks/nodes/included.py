"""DaemonSets that the spec includes: they take room on nodes as those of add-ons do."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from trainyard.catalog import InstanceType
from trainyard.core.pools.spec import NodePool
from trainyard.eks.addons.addon import Daemon
from trainyard.eks.nodes.requested import requested
from trainyard.output.body import mappings_at, value_at
from trainyard.plan.context import Context
from trainyard.plan.scheduling import INSTANCE_TYPE, POOL_LABEL

POD = ("spec", "template", "spec")
_NODEPOOL = "karpenter.sh/nodepool"
_ALWAYS = "Always"


def included_daemons(context: Context, pool: NodePool, instance: InstanceType) -> Iterator[Daemon]:
    """Those that may land on a node of a pool."""
    for each in context.included:
        if each.body.get("kind") != "DaemonSet":
            continue
        pod = value_at(each.body, *POD)
        if isinstance(pod, Mapping) and may_land(pod, pool.name, (instance.name,)):
            name = str(value_at(each.body, "metadata", "name"))
            yield Daemon(name, *asked(pod), each.file)


def may_land(pod: Any, pool: str, instances: Collection[str]) -> bool:
    """Whether a pod of a DaemonSet may come to nodes of a pool: its selector names no other pool and no other type.
    Taints are not looked at, since DaemonSets of agents tolerate them; affinity is not read."""
    selector = value_at(pod, "nodeSelector")
    if not isinstance(selector, Mapping):
        return True
    if selector.get(INSTANCE_TYPE, "") not in ("", *instances) and instances:
        return False
    return all(selector.get(label, pool) == pool for label in (POOL_LABEL, _NODEPOOL))


def asked(pod: Any) -> tuple[int, int]:
    """Milli-CPU and MiB that the scheduler counts of a pod."""
    return _asks(pod, "cpu"), -(-_asks(pod, "memory") // (1000 * 1024**2))


def _asks(pod: Any, resource: str) -> int:
    """In thousandths: its containers and sidecars, or the largest init container beside the sidecars before it
    (Kubernetes 1.33, KEP-753)."""
    sidecars, most = 0, 0
    for container in mappings_at(pod, "initContainers"):
        asked = _amount(container, resource)
        if container.get("restartPolicy") == _ALWAYS:
            sidecars += asked
            most = max(most, sidecars)
        else:
            most = max(most, sidecars + asked)
    running = sidecars + sum(_amount(each, resource) for each in mappings_at(pod, "containers"))
    return max(running, most)


def _amount(container: Mapping[str, Any], resource: str) -> int:
    found = requested(container.get("resources"), resource)
    return found.milli if found is not None else 0
