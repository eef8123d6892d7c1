"""Node labels that tell the device plugin how to offer the GPUs."""

from __future__ import annotations

from trainyard.core.pools.pools import Pool
from trainyard.core.pools.sharing import CONFIG_LABEL, shares_of
from trainyard.plan.context import Context


def sharing_labels(context: Context, pool: Pool) -> dict[str, str]:
    """The label by which the device plugin finds how to offer the GPUs of a node."""
    sharing = pool.spec.gpu_sharing
    assert sharing is not None, "only asked of a pool that shares its GPUs"
    shares = shares_of(sharing, pool.instance)
    context.derive(
        f"pool/{pool.name}",
        "gpuSharing",
        f"{pool.share.accelerators} {shares.resource} a node",
        f"{pool.instance.gpus} GPUs, each as {shares.count}; "
        f"{pool.accelerator_memory_mib} MiB of memory for each",
        "NVIDIA/mig-parted bd7160f; NVIDIA/k8s-device-plugin v0.20.0",
        follows=pool.at / "gpuSharing",
    )
    return {CONFIG_LABEL: shares.config}
