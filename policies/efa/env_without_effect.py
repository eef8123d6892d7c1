from __future__ import annotations

from collections.abc import Iterator

from trainyard.catalog.efa import reads_remote_memory
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity


@rule("EFA011", severity=Severity.WARNING, pods=True, roles=True)
def env_without_effect(work: Work) -> Iterator[Finding]:
    """An environment variable for the network has no effect on EFA, or no longer has one.

    Settings for InfiniBand verbs do not reach EFA, which NCCL uses through aws-ofi-nccl and libfabric; others were
    for versions long gone, or are misspelt (NCCL 2.30.7, src; aws-ofi-nccl 1.21.1; AWS distributed-training EFA
    cheat sheet). They mislead whoever reads the job.

    ## Fails

        jobs: [{name: llama, env: {NCCL_IB_HCA: "efa0,efa1"}}]

        jobs: [{name: llama, env: {FI_EFA_FORK_SAFE: "1"}}]

    ## Passes

        jobs: [{name: llama, env: {NCCL_DEBUG: WARN}}]
    """
    for name in work.env:
        why = _WHY.get(name)
        if why is None and work.efa and name.startswith("NCCL_"):
            why = _beside_efa(name)
        if name == "FI_EFA_USE_DEVICE_RDMA" and _without_rdma(work):
            continue  # EFA010 reports it
        if why:
            right = _RIGHT.get(name)
            yield Finding(
                f"`{name}` {why}",
                work.where_env(name),
                help=f"write `{right}`" if right else f"remove `{name}`",
            )


def _without_rdma(work: Work) -> bool:
    """Whether the instance types of a job are known, and none has RDMA read."""
    rdma = any(map(reads_remote_memory, work.types))
    return bool(work.types) and not rdma


def _beside_efa(name: str) -> str:
    """Why a variable means nothing to a job whose traffic goes over EFA; over sockets it may."""
    if name.startswith("NCCL_IB_"):
        return "is for InfiniBand verbs; EFA does not read it"
    if name in ("NCCL_SOCKET_NTHREADS", "NCCL_NSOCKS_PERTHREAD"):
        return "is for TCP sockets only"
    return ""


_WHY = {
    "FI_EFA_USE_DEVICE_RDMA": "is not needed since libfabric 1.18",
    "FI_EFA_FORK_SAFE": "is not needed on kernels since 5.13",
    "FI_EFA_ENABLE_SHM_TRANSFER": "has no effect through aws-ofi-nccl",
    "NCCL_TREE_THRESHOLD": "was removed with NCCL 2.5; `NCCL_ALGO` came in its place",
    "NCCL_TOPO_DUMP": "is no variable of NCCL",
}
_RIGHT = {"NCCL_TOPO_DUMP": "NCCL_TOPO_DUMP_FILE"}
