from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule


@rule("RUN125", pods=True, roles=True)
def collective_errors_ignored(work: Work) -> Iterator[Finding]:
    """PyTorch is configured not to act when a collective fails or never ends.

    With `TORCH_NCCL_ASYNC_ERROR_HANDLING=0` nobody aborts the communicator (PyTorch 2.8, ProcessGroupNCCL environment
    variables): when one rank dies, all others wait in their collective for ever, the pods stay Running, nothing is
    retried, and the gang holds its nodes. `NCCL_ASYNC_ERROR_HANDLING` is the older name.

    ## Fails

        jobs: [{name: llama, env: {TORCH_NCCL_ASYNC_ERROR_HANDLING: "0"}}]

        jobs: [{name: llama, env: {NCCL_ASYNC_ERROR_HANDLING: "0"}}]

    ## Passes

        jobs: [{name: llama, env: {TORCH_NCCL_ASYNC_ERROR_HANDLING: "3"}}]

        jobs: [{name: llama}]
    """
    if not work.is_accelerated:
        return
    for name in ("TORCH_NCCL_ASYNC_ERROR_HANDLING", "NCCL_ASYNC_ERROR_HANDLING"):
        value = work.env.get(name)
        if value is not None and value.strip() == "0":
            yield Finding(
                f"`{name}=0` has the other ranks of {work.title} wait for ever when one fails",
                work.where_env(name),
                label="hangs instead of ending",
                help="remove it",
            )
