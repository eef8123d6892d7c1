from __future__ import annotations

from collections.abc import Iterator

from compiler.policy.command import launches, options
from compiler.policy.rule import Finding, rule
from compiler.policy.work import Work


@rule("RUN009")
def rendezvous_without_endpoint(work: Work) -> Iterator[Finding]:
    """torchrun on several nodes uses c10d without an endpoint.

    With `--rdzv-backend=c10d` and no `--rdzv-endpoint` each node opens a store on its own localhost and waits there
    for the others (PyTorch, torchrun). Trainer sets `PET_MASTER_ADDR`, which c10d does not read.

    ## Fails

        jobs: [{name: llama, command: [torchrun, --rdzv_backend=c10d, train.py], env: {PET_RDZV_ENDPOINT: ""}}]

    ## Passes

        jobs: [{name: llama, command: [torchrun, --rdzv_backend=c10d, train.py]}]
    """
    if not work.gang or not launches(work.words):
        return
    given = dict(options(work.words))
    backend = given.get("rdzv-backend") or work.env.get("PET_RDZV_BACKEND")
    elsewhere = work.env.get("PET_RDZV_ENDPOINT", "") != ""  # in a Secret or ConfigMap it is not read
    if backend == "c10d" and not given.get("rdzv-endpoint") and not elsewhere:
        yield Finding(
            f"job `{work.name}` runs torchrun on {work.nodes} nodes with c10d and no endpoint",
            work.where_said("rdzv-backend"),
            label="each node waits for itself", help="add `--rdzv-endpoint=$(PET_MASTER_ADDR):$(PET_MASTER_PORT)`",
        )
