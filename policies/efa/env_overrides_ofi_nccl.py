from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity


@rule("EFA012", aliases=("env-overrides-plugin",), severity=Severity.WARNING, pods=True, roles=True)
def env_overrides_ofi_nccl(work: Work) -> Iterator[Finding]:
    """An environment variable overrides what aws-ofi-nccl chooses for the instance type.

    The plugin sets buffer sizes, protocol and a tuner by type, only where nothing is set: a value by hand switches
    that off for the whole job (aws-ofi-nccl 1.21.1 platform-aws.cpp and tuner; "leave unset" in AWS' EFA cheat
    sheet).

    ## Fails

        jobs: [{name: llama, env: {NCCL_BUFFSIZE: "2097152"}}]

    ## Passes

        jobs: [{name: llama, env: {NCCL_DEBUG: WARN}}]
    """
    if not (work.efa and work.gang):
        return
    for name in _CHOSEN:
        if name in work.env:
            yield Finding(
                f"`{name}` overrides what the EFA plugin chooses",
                work.where_env(name),
                help="remove it, unless it was measured on this type and version",
            )


_CHOSEN = (
    "NCCL_ALGO",
    "NCCL_PROTO",
    "NCCL_BUFFSIZE",
    "NCCL_MIN_NCHANNELS",
    "NCCL_P2P_NET_CHUNKSIZE",
    "NCCL_TUNER_PLUGIN",
)
