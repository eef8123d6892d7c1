"""The EFA device plugin, which offers network interfaces with EFA to pods."""

from __future__ import annotations

from typing import Any

from compiler.catalog import InstanceType
from compiler.resolve.context import Context
from compiler.subjects.addons.addon import EVERYWHERE, OURS, AddOn, Daemon, Setting
from compiler.subjects.pools.spec import NodePool

_REQUESTS = {"cpu": "50m", "memory": "128Mi"}


def wanted(context: Context) -> bool:
    """Where jobs of a pool use EFA."""
    return any(_uses_efa(pool, instance) for pool, instance in context.pool_types)


def _uses_efa(pool: NodePool, instance: InstanceType) -> bool:
    return _has_efa(instance) if pool.efa is None else pool.efa


def _has_efa(instance: InstanceType) -> bool:
    return instance.efa_interfaces > 0


def values(setting: Setting) -> dict[str, Any]:
    """aws-efa-k8s-device-plugin v0.5.30 chart values; its default tolerations are none."""
    return {
        "tolerations": EVERYWHERE,
        "resources": {
            "requests": _REQUESTS,
            "limits": {"memory": _REQUESTS["memory"]},
        },
    }


ADD_ON = AddOn(
    component="aws-efa-k8s-device-plugin",
    wanted=wanted,
    values=values,
    reach=("tolerations",),
    daemons=(Daemon("aws-efa-k8s-device-plugin", 50, 128, OURS, on=_has_efa),),
)
