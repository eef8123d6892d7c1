from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity


@rule("RUN136", severity=Severity.WARNING, pods=True, roles=True)
def variable_value_refused(work: Work) -> Iterator[Finding]:
    """A variable has a value that its reader refuses, or silently ignores.

    Python ends at its start with a `PYTHONHASHSEED` that is no number, PyTorch raises at the first allocation with an
    unknown option of `PYTORCH_CUDA_ALLOC_CONF` and reads `10m` as ten of its unit, NCCL takes what it does not know for
    unset.

    ## Fails

        jobs: [{name: llama, env: {NCCL_DEBUG: VERBOSE}}]

        jobs: [{name: llama, env: {PYTORCH_CUDA_ALLOC_CONF: "expandable_segment:True"}}]

        jobs: [{name: llama, env: {PYTHONHASHSEED: fixed}}]

        jobs: [{name: llama, env: {TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC: 10m}}]

        jobs: [{name: llama, env: {CUDA_DEVICE_MAX_CONNECTIONS: "0"}}]

    ## Passes

        jobs: [{name: llama, env: {NCCL_DEBUG: INFO, NCCL_DEBUG_SUBSYS: "INIT,NET,^ENV",
          PYTORCH_CUDA_ALLOC_CONF: "expandable_segments:True,max_split_size_mb:512"}}]

        jobs: [{name: llama, env: {PYTHONHASHSEED: "0", OMP_NUM_THREADS: "12"}}]
    """
    if work.env.keys().isdisjoint(_VALUES):
        return
    for name, (pattern, takes) in _VALUES.items():
        value = work.env.get(name)
        if value is None or "$" in value or "{{" in value:
            continue
        if _is_one(value.strip(), pattern):
            continue
        yield Finding(
            f"`{name}` of {work.title} is `{value}`, and takes {takes}",
            work.where_env(name),
            help=f"write {takes}, or remove it",
        )


@lru_cache(maxsize=1024)
def _is_one(value: str, pattern: str) -> bool:
    """Whether a value has a form: most jobs of a set have the same."""
    return re.fullmatch(pattern, value, re.IGNORECASE) is not None


_SUBSYSTEMS = (
    "INIT|COLL|P2P|SHM|NET|GRAPH|TUNING|ENV|ALLOC|CALL|PROXY|NVLS|BOOTSTRAP|REG|PROFILE|RAS|ALL"
)
_ALLOCATOR = (
    "max_split_size_mb|roundup_power2_divisions|garbage_collection_threshold|expandable_segments|backend"
    "|pinned_use_cuda_host_register|pinned_num_register_threads|pinned_use_background_threads|pinned_reserve_segment_size_mb"
    "|release_lock_on_cudamalloc|max_non_split_rounding_mb|graph_capture_record_stream_reuse|per_process_memory_fraction"
)
_VALUES = {
    # NCCL 2.28, environment variables.
    "NCCL_DEBUG": ("VERSION|WARN|INFO|ABORT|TRACE|", "`VERSION`, `WARN`, `INFO` or `TRACE`"),
    "NCCL_DEBUG_SUBSYS": (
        rf"\^?(?:{_SUBSYSTEMS})(?:,\^?(?:{_SUBSYSTEMS}))*",
        "names of NCCL's parts like `INIT,NET`, separated by commas",
    ),
    "NCCL_CROSS_NIC": ("[012]", "`0`, `1` or `2`"),
    "NCCL_BUFFSIZE": (r"\d+|0x[0-9a-f]+", "a number of bytes"),
    "NCCL_P2P_LEVEL": (r"LOC|NVL|PIX|PXB|P2C|PXN|PHB|SYS|\d", "a level like `NVL`, `PIX` or `SYS`"),
    # libfabric 2.6, fi_param.
    "FI_LOG_LEVEL": ("warn|trace|info|debug", "`warn`, `trace`, `info` or `debug`"),
    # PyTorch 2.8, ProcessGroupNCCL: getCvarInt reads digits up to the first letter, and raises without any.
    "TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC": (r"\d+", "a number of seconds"),
    "TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC": (r"\d+", "a number of milliseconds"),
    "TORCH_NCCL_COORD_CHECK_MILSEC": (r"\d+", "a number of milliseconds"),
    "TORCH_NCCL_TRACE_BUFFER_SIZE": (r"\d+", "a number of entries"),
    "TORCH_NCCL_ASYNC_ERROR_HANDLING": ("[0-3]", "a number from 0 to 3"),
    # PyTorch 2.8, distributed and CUDA semantics.
    "TORCH_DISTRIBUTED_DEBUG": ("OFF|INFO|DETAIL", "`OFF`, `INFO` or `DETAIL`"),
    "PYTORCH_CUDA_ALLOC_CONF": (
        rf"(?:{_ALLOCATOR}):[^,]+(?:,.*)?",
        "options of the allocator like `expandable_segments:True`",
    ),
    # CUDA C++ programming guide, environment variables.
    "CUDA_DEVICE_MAX_CONNECTIONS": ("[1-9]|[12][0-9]|3[0-2]", "a number from 1 to 32"),
    # cuBLAS 12.9, reproducibility.
    "CUBLAS_WORKSPACE_CONFIG": (r"(?::\d+:\d+)+", "sizes in KiB and counts like `:4096:8`"),
    # Python 3.12, command line and environment.
    "PYTHONHASHSEED": (r"random|\d{1,10}", "`random` or a number from 0 to 4294967295"),
    # OpenMP 5.2, 21.1.2.
    "OMP_NUM_THREADS": (r"[1-9]\d*(?:,[1-9]\d*)*", "a number of threads from 1"),
    # W&B, environment variables.
    "WANDB_MODE": (
        "online|offline|disabled|shared|dryrun|run",
        "`online`, `offline`, `disabled` or `shared`",
    ),
}
"""What each takes, as a pattern and in words."""
