"""What keeps the GPUs of a pool from being shared as it says."""

from __future__ import annotations

from collections.abc import Sequence

from compiler.catalog.instance import InstanceType
from compiler.catalog.mig import profile_of, profiles_of
from compiler.diagnostics.diagnostic import listed
from compiler.subjects.pools.spec import NodePool

_PARTED = "NVIDIA/mig-parted bd7160f, deployments/systemd/config-default.yaml"


def sharing_fault(
    pool: NodePool, instances: Sequence[InstanceType]
) -> tuple[str, str, str, str] | None:
    """The key, what is wrong, what to write instead, and the source of the rule; ``None`` where nothing is."""
    first = instances[0]
    whose = f"pool `{pool.name}` shares its GPUs"
    if not first.gpus:
        help = "remove it, or take a type with NVIDIA GPUs"
        return "sharing", f"{whose}, and `{first.name}` has none", help, ""
    if pool.efa:
        help = "remove it: jobs on shares have one node, and talk over no network"
        return "efa", f"{whose}, and its nodes have EFA", help, ""
    mig = pool.sharing.mig if pool.sharing is not None else None
    if mig is None:
        return None
    if pool.managed_node_group is not None:
        help = "remove it: the user data that cuts GPUs into slices is that of Karpenter's nodes"
        return (
            "managedNodeGroup",
            f"{whose} by MIG, and is a managed node group",
            help,
            "",
        )
    for instance in instances:
        if profile_of(instance, mig.profile) is not None:
            continue
        name = instance.accelerator
        known = [profile.name for profile in profiles_of(instance)]
        fact = (
            f"`{instance.name}` has {name} GPUs, which have no profile `{mig.profile}`"
        )
        if not known:
            help = "write `timeSlicing`, or take a type with A100, H100, H200, B200 or B300"
            fact = f"`{instance.name}` has {name} GPUs, which MIG does not cut"
            return "sharing", fact, help, _PARTED
        return "sharing", fact, f"write one of {listed(known)}", _PARTED
    return None
