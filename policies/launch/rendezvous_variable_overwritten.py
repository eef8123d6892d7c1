from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.judge.model.command import launches
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity

_SET = (
    "RANK",
    "LOCAL_RANK",
    "WORLD_SIZE",
    "LOCAL_WORLD_SIZE",
    "MASTER_ADDR",
    "MASTER_PORT",
    "GROUP_RANK",
)


@rule("RUN134", gangs=True, roles=True, severity=Severity.WARNING)
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

        jobs: [{name: llama, env: {MASTER_ADDR: first}, command: [torchrun, --master_addr=$(MASTER_ADDR), train.py]}]
    """
    if not launches(work.words):
        return
    for name in _SET:
        if name in work.env and not _is_used(name, work):
            yield Finding(
                f"`{name}` of {work.title} is set, and torchrun sets another value for each process",
                work.where_env(name),
                label="read by nobody",
                help="remove it",
            )


def _is_used(name: str, work: Work) -> bool:
    """Whether the command or another variable takes the value, like `--master_addr=$MASTER_ADDR`."""
    values = (value for value in work.env.values() if value is not None)
    return any(re.search(rf"\$[({{]?{name}\b", text) for text in (*work.words, *values))
