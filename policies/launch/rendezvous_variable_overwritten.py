from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import Severity
from compiler.model.command import launches
from compiler.model.work import Work
from compiler.policy.rule import Finding, rule

_SET = (
    "RANK",
    "LOCAL_RANK",
    "WORLD_SIZE",
    "LOCAL_WORLD_SIZE",
    "MASTER_ADDR",
    "MASTER_PORT",
    "GROUP_RANK",
)


@rule("RUN134", severity=Severity.WARNING)
def rendezvous_variable_overwritten(work: Work) -> Iterator[Finding]:
    """A job sets a variable that torchrun sets itself for each process.

    torchrun gives every rank its own `RANK`, `WORLD_SIZE`, `MASTER_ADDR` and the like (PyTorch 2.8, torchrun,
    environment variables), whatever the container had: the value is read by nobody, and often left of another way to
    start the job. torchrun itself takes `PET_*`, which Trainer sets.

    ## Fails

        jobs: [{name: llama, env: {MASTER_ADDR: llama-node-0-0.llama}}]

        jobs: [{name: llama, env: {WORLD_SIZE: "32"}}]

    ## Passes

        jobs: [{name: llama, nodes: 1, command: [python, train.py], env: {RANK: "0", WORLD_SIZE: "1"}}]
    """
    if not launches(work.words):
        return
    for name in _SET:
        if name in work.env:
            yield Finding(
                f"`{name}` of job `{work.name}` is set, and torchrun sets another value for each process",
                work.where_env(name),
                label="read by nobody",
                help="remove it",
            )
