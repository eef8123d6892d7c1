from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity


@rule("RUN124", severity=Severity.WARNING, pods=True, roles=True)
def variable_slows_training(work: Work) -> Iterator[Finding]:
    """A variable that is for finding faults makes training many times slower.

    `NCCL_P2P_DISABLE` and `NCCL_SHM_DISABLE` send what NVLink carries through memory or the network (NCCL 2.28,
    environment variables), so does `NCCL_NET_GDR_LEVEL=LOC` between nodes, `CUDA_LAUNCH_BLOCKING` waits for each
    kernel (CUDA C++ programming guide, 3.2.8.1: for debugging only), `TORCH_DISTRIBUTED_DEBUG=DETAIL` checks every
    collective (PyTorch 2.8, distributed: "should only be used when debugging"), `PYTORCH_NO_CUDA_MEMORY_CACHING` is for
    memory checkers (PyTorch 2.8, notes on CUDA), and `NCCL_DEBUG=TRACE` writes a line for each step. Left in a
    job after the fault was found, nothing fails and everything is slow.

    ## Fails

        jobs: [{name: llama, env: {NCCL_P2P_DISABLE: "1"}}]

        jobs: [{name: llama, env: {CUDA_LAUNCH_BLOCKING: "1"}}]

        jobs: [{name: llama, env: {TORCH_DISTRIBUTED_DEBUG: DETAIL}}]

        jobs: [{name: llama, env: {PYTORCH_NO_CUDA_MEMORY_CACHING: "1"}}]

        jobs: [{name: llama, env: {NCCL_DEBUG: TRACE}}]

        nodePools: [{name: gpu, instanceTypes: [g6.4xlarge]}]
        jobs: [{name: llama, nodes: 2, env: {TORCH_DISTRIBUTED_DEBUG: DETAIL}}]

    ## Passes

        jobs: [{name: llama, env: {NCCL_P2P_DISABLE: "0", NCCL_DEBUG: INFO, TORCH_DISTRIBUTED_DEBUG: INFO}}]

        jobs: [{name: llama, nodes: 1, resources: {accelerators: 1}, env: {NCCL_P2P_DISABLE: "1"}}]
    """
    if work.env.keys().isdisjoint(_SLOW):
        return
    count = work.accelerator[1] if work.accelerator else _FILLED_IN * work.is_accelerated
    talking = {_ALONE: count, _NODE: count // 2, _JOB: count * (work.nodes or 1) // 2}
    for name, (slow, why, between) in _SLOW.items():
        value = work.env.get(name)
        if value is None or value.strip().upper() not in slow:
            continue
        if not talking[between]:
            continue
        yield Finding(
            f"`{name}={value}` in {work.title} {why}",
            work.where_env(name),
            label="for finding faults",
            help="remove it",
        )


_FILLED_IN = 2
"""The accelerators of a node at least, where a template leaves their number to be filled in."""
_ALONE, _NODE, _JOB = "one", "node", "job"
_ON = ("1", "TRUE", "YES", "ON", "Y")
_SLOW: dict[str, tuple[tuple[str, ...], str, str]] = {
    "NCCL_P2P_DISABLE": (_ON, "keeps its GPUs from NVLink", _NODE),
    "NCCL_SHM_DISABLE": (_ON, "keeps its processes from shared memory", _NODE),
    "CUDA_LAUNCH_BLOCKING": (_ON, "waits for each kernel", _ALONE),
    "TORCH_DISTRIBUTED_DEBUG": (("DETAIL",), "checks every collective", _JOB),
    "PYTORCH_NO_CUDA_MEMORY_CACHING": (_ON, "asks CUDA for memory at each tensor", _ALONE),
    "NCCL_MAX_NCHANNELS": (("1",), "has one of its channels carry what all could", _JOB),
    "NCCL_DEBUG": (("TRACE",), "writes a line for each step of a collective", _JOB),
    "FI_LOG_LEVEL": (("DEBUG", "TRACE"), "writes a line for each message", _JOB),
    "NCCL_NET_GDR_LEVEL": (("LOC", "0"), "sends what GPUs send through the node's memory", _JOB),
}
"""The values of each that are slow, why, and what it is about: one GPU, or what several of a node, or of
the job, say to each other."""
