"""The EFA device plugin, which offers network interfaces with EFA to pods."""

from __future__ import annotations

from typing import Any

from trainyard.catalog import InstanceType
from trainyard.core.pools.pools import pool_types
from trainyard.core.pools.spec import NodePool
from trainyard.eks.addons.addon import EVERYWHERE, OURS, AddOn, Daemon, Setting
from trainyard.eks.settings.launcher import launcher_asked
from trainyard.plan.context import Context

OWN_NAME = "trainyard-efa-device-plugin"
_REQUESTS = {"cpu": "50m", "memory": "128Mi"}


def wanted(context: Context) -> bool:
    """Where jobs of a pool use EFA."""
    return any(_uses_efa(pool, instance) for pool, instance in context.once(pool_types))


def _uses_efa(pool: NodePool, instance: InstanceType) -> bool:
    if pool.efa is None:
        return _has_efa(instance)
    return pool.efa


def _has_efa(instance: InstanceType) -> bool:
    return instance.efa_interfaces > 0


def _comes_with_nodes(context: Context) -> bool:
    """Whether nodes of a pool come with a plugin of their launcher."""
    return any(
        _uses_efa(pool, instance) and launcher_asked(context, pool).brings_efa_plugin
        for pool, instance in context.once(pool_types)
    )


def values(setting: Setting) -> dict[str, Any]:
    """aws-efa-k8s-device-plugin v0.5.30 chart values; its default tolerations are none.

    eksctl's plugin is a DaemonSet of the name that the chart's would have, and each run of `eksctl create` puts it in
    its place. It tolerates no taint of a pool and so comes to none of its nodes, under a name of its own.
    """
    if _comes_with_nodes(setting.context):
        own_name = {"fullnameOverride": OWN_NAME}
    else:
        own_name = {}
    return {
        **own_name,
        "tolerations": EVERYWHERE,
        "resources": {"requests": _REQUESTS, "limits": {"memory": _REQUESTS["memory"]}},
    }


ADD_ON = AddOn(
    component="aws-efa-k8s-device-plugin",
    in_auto_mode=True,
    wanted=wanted,
    values=values,
    reach=("tolerations",),
    daemons=(
        Daemon("aws-efa-k8s-device-plugin", 50, 128, OURS, on=_has_efa, resources=("resources",)),
    ),
)
