"""The Neuron device plugin, which offers Trainium and Inferentia to pods."""

from __future__ import annotations

from typing import Any

from trainyard.core.pods.plan import NEURON
from trainyard.core.pools.pools import pool_types
from trainyard.eks.addons.addon import EVERYWHERE, AddOn, Setting
from trainyard.plan.context import Context


def wanted(context: Context) -> bool:
    """Where a pool has Neuron devices."""
    return any(instance.accelerator_resource == NEURON for _, instance in context.once(pool_types))


def values(setting: Setting) -> dict[str, Any]:
    """neuron-helm-chart values: the device plugin alone. Node health has its own detectors here."""
    return {
        "devicePlugin": {"enabled": True, "tolerations": EVERYWHERE},
        "npd": {"enabled": False},
        "scheduler": {"enabled": False},
    }


ADD_ON = AddOn(
    component="neuron-helm-chart",
    in_auto_mode=True,
    wanted=wanted,
    values=values,
    reach=("devicePlugin", "tolerations"),
)
