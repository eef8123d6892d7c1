"""Why the GPUs of a pool cannot be shared as the spec asks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from trainyard.catalog.instance import InstanceType
from trainyard.catalog.mig import profile_of, profiles_of
from trainyard.core.pools.spec import NodePool
from trainyard.language.diagnostics.diagnostic import listed

_PARTED = "NVIDIA/mig-parted bd7160f, deployments/systemd/config-default.yaml"


class SharingFault(NamedTuple):
    """The key of the pool, what is wrong with it, what to write instead, and the source of the rule."""

    key: str
    message: str
    help: str
    source: str = ""


def sharing_fault(pool: NodePool, instances: Sequence[InstanceType]) -> SharingFault | None:
    """What is wrong with how a pool shares its GPUs; ``None`` where nothing is."""
    first = instances[0]
    whose = f"pool `{pool.name}` shares its GPUs"
    if not first.gpus:
        help = "remove it, or take a type with NVIDIA GPUs"
        return SharingFault("gpuSharing", f"{whose}, and `{first.name}` has none", help)
    if pool.efa:
        help = "remove it: jobs on shares have one node, and talk over no network"
        return SharingFault("efa", f"{whose}, and its nodes have EFA", help)
    assert pool.gpu_sharing is not None, "only asked of a pool that shares its GPUs"
    mig = pool.gpu_sharing.mig
    if mig is None:
        return None
    for instance in instances:
        if profile_of(instance, mig.profile) is None:
            return _of_profile(instance, mig.profile)
    return None


def _of_profile(instance: InstanceType, profile: str) -> SharingFault:
    known = [known.name for known in profiles_of(instance)]
    whose = f"`{instance.name}` has {instance.accelerator} GPUs"
    if known:
        fact = f"{whose}, which have no profile `{profile}`"
        return SharingFault("gpuSharing", fact, f"write one of {listed(known)}", _PARTED)
    help = "write `timeSlicing`, or take a type with A100, H100, H200, B200 or B300"
    return SharingFault("gpuSharing", f"{whose}, which MIG does not cut", help, _PARTED)
