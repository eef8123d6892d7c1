"""What the nodes of a pool do when they boot: slices of GPUs, memory that may be locked, and Lustre's client."""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.catalog.ami_families import of_alias
from trainyard.catalog.efa import LUSTRE_CLIENTS, mounts_lustre
from trainyard.core.pools.pools import Pool
from trainyard.core.storage.spec import Storage, StorageSection
from trainyard.eks.nodes.plan import Boot
from trainyard.eks.settings.launcher import launcher_of
from trainyard.language.places import Route
from trainyard.plan.context import SPEC, Context

_LARGE_VCPUS, _LARGE_MIB = 64, 64 * 1024
"""Beyond either, FSx recommends other settings of a client (FSx for Lustre user guide, performance-tips)."""
_TIPS = "FSx for Lustre user guide, performance-tips, read 2026-11"
_CLIENTS = "EKS user guide, fsx-csi-tuning-efa, commit 1527dee9"
_LIMITS = "amazon-eks-ami 81fec2e, base-runtime-spec.json; containerd.service; getrlimit(2)"


def boot_of_pool(context: Context, pool: Pool) -> Boot:
    """Boot scripts of AL2023 nodes; nodes of EKS Auto Mode and of other images run none of ours."""
    if not _runs_commands(context, pool):
        return Boot(mig=pool.slices)
    boot = Boot(
        mig=pool.slices,
        locked_memory=pool.efa,
        # Not only where there is storage: they have no effect without it, and adding it later would drift every node.
        lustre_settings=_is_large(pool),
        lustre_efa=bool(_over_efa(context, pool)),
    )
    _explain(context, pool, boot)
    return boot


def boot_place(pool: Pool) -> Route:
    """Where the spec says what nodes do when they boot."""
    if pool.slices:
        return pool.at / "gpuSharing"
    return pool.at_type


def check_lustre_clients(context: Context, pools: Mapping[str, Pool]) -> None:
    """Report a file system with EFA that is paid for, and that no node can reach over EFA."""
    for index, storage in _lustre(context).items():
        created = storage.created_lustre
        if created is None or not created.efa:
            continue
        clients = [pool for pool in pools.values() if storage in _over_efa(context, pool)]
        if any(_runs_commands(context, pool) for pool in clients):
            continue
        fact, help = _why_none(context, pools, storage)
        context.fault(
            "RES220",
            f"storage `{storage.name}` has EFA, and no node can be its client over EFA: {fact}",
            SPEC / "storage" / index / "fsxLustre" / "create" / "efa",
            help,
            source=f"{_CLIENTS}; {LUSTRE_CLIENTS}",
        )


def _why_none(context: Context, pools: Mapping[str, Pool], storage: Storage) -> tuple[str, str]:
    reasons = [launcher_of(pool).no_commands for pool in pools.values()]
    without = next(filter(None, reasons), None)
    if without is not None:
        return without
    if not _image_runs_commands(context):
        return (
            f"nodes of `{context.version('ami')}` do not run the commands of Amazon Linux 2023",
            "write an alias of `al2023`, or remove `efa`: over TCP every node mounts it",
        )
    where = ""
    zone = storage.fsx_lustre.zone if storage.fsx_lustre is not None else None
    there = [pool for pool in pools.values() if pool.efa and (zone is None or zone in pool.zones)]
    refused = next(filter(None, map(_no_client, there)), None)
    if refused is not None:
        return (
            f"FSx takes none of `{refused}`, whose EFA is of Nitro v3 or of trn2",
            "add a pool of a newer type, like `p5.48xlarge`, or remove `efa`: over TCP every node mounts it",
        )
    if zone is not None:
        where = f" in `{zone}`"
    return (
        f"no pool{where} has EFA",
        f"add a pool of a type with EFA{where or ' in its zone'}, or remove `efa`: over TCP every node mounts it",
    )


def _runs_commands(context: Context, pool: Pool) -> bool:
    """Whether nodes of a pool run commands of ours when they boot."""
    if launcher_of(pool).no_commands is not None:
        return False
    return _image_runs_commands(context)


def _image_runs_commands(context: Context) -> bool:
    """Whether the image that nodes boot runs commands of user data."""
    family = of_alias(context.version("ami"))
    return family is not None and family.runs_commands


def _lustre(context: Context) -> dict[int, Storage]:
    """The file systems of Lustre in the spec, by their place."""
    storages = enumerate(StorageSection.of(context.spec).storage)
    return {index: storage for index, storage in storages if storage.fsx_lustre}


def _over_efa(context: Context, pool: Pool) -> list[Storage]:
    """The file systems with EFA in a zone of a pool that has it: EFA stays in one zone. Nodes of types that can be no
    clients over it mount them over TCP."""
    if not pool.efa or _no_client(pool):
        return []
    reached = []
    for storage in _lustre(context).values():
        created = storage.created_lustre
        if created is None or not created.efa:
            continue
        if created.zone is None or created.zone in pool.zones:
            reached.append(storage)
    return reached


def _no_client(pool: Pool) -> str:
    """The first type of a pool that can be no client of Lustre over EFA; empty without one."""
    names = (instance.name for instance in pool.instances)
    return next((name for name in names if not mounts_lustre(name)), "")


def _is_large(pool: Pool) -> bool:
    return any(
        instance.vcpus > _LARGE_VCPUS or instance.memory_mib > _LARGE_MIB
        for instance in pool.instances
    )


def _explain(context: Context, pool: Pool, boot: Boot) -> None:
    target = f"pool/{pool.name}"
    if boot.locked_memory:
        context.derive(
            target,
            "lockedMemory",
            "unlimited",
            "EFA registers memory, which counts as locked: containers of AL2023 may lock 8 MiB, and no pod may ask for "
            "`IPC_LOCK` in a namespace of Pod Security's baseline",
            _LIMITS,
        )
    if boot.lustre_settings:
        context.derive(
            target,
            "lustre.settings",
            "for more than 64 vCPUs, 64 GiB",
            "more requests at a time and locks that are given back, as FSx recommends",
            _TIPS,
        )
    if boot.lustre_efa:
        names = ", ".join(storage.name for storage in _over_efa(context, pool))
        context.derive(
            target,
            "lustre.efa",
            names,
            "nodes are made clients over EFA when they boot; else they mount over TCP",
            _CLIENTS,
            follows=SPEC / "storage",
        )
