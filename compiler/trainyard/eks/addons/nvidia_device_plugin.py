"""NVIDIA's device plugin, which offers GPUs to pods."""

from __future__ import annotations

from typing import Any

from trainyard.core.pools.pools import GPU_PRESENT, pool_types
from trainyard.core.pools.sharing import WHOLE, plugin_config
from trainyard.eks.addons.addon import EVERYWHERE, OURS, AddOn, Daemon, Setting, on_gpus
from trainyard.plan.context import Context

_REQUESTS = {"cpu": "50m", "memory": "128Mi"}


def wanted(context: Context) -> bool:
    """Where a pool has GPUs."""
    return any(instance.gpus for _, instance in context.once(pool_types))


def values(setting: Setting) -> dict[str, Any]:
    """nvidia-device-plugin 0.20.0 chart values. MOFED mounts would fight the EFA plugin for /dev/infiniband."""
    present = {"key": GPU_PRESENT, "operator": "In", "values": ["true"]}
    return {
        **_sharing(setting.context),
        "gfd": {"enabled": False},
        "mofedEnabled": False,
        "tolerations": EVERYWHERE,
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [{"matchExpressions": [present]}]
                }
            }
        },
        "resources": {"requests": _REQUESTS, "limits": {"memory": _REQUESTS["memory"]}},
    }


def _sharing(context: Context) -> dict[str, Any]:
    """The configurations of nodes whose GPUs are shared, by name; each node's label names one."""
    shared = [pool.gpu_sharing for pool, _ in context.once(pool_types) if pool.gpu_sharing]
    if not shared:
        return {}

    name, text = WHOLE
    shared_configs = sorted(plugin_config(sharing) for sharing in shared)
    configs = {name: text, **dict(shared_configs)}
    return {"config": {"default": name, "map": configs}}


ADD_ON = AddOn(
    component="nvidia-device-plugin",
    in_auto_mode=True,
    wanted=wanted,
    values=values,
    reach=("tolerations",),
    daemons=(Daemon("nvidia-device-plugin", 50, 128, OURS, on=on_gpus, resources=("resources",)),),
)
