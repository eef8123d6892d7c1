from __future__ import annotations

from collections.abc import Iterator

from compiler.model.command import launches, options
from compiler.model.work import Work
from compiler.policy.rule import Finding, rule


@rule("RUN010", aliases=("nodes-in-command",))
def nnodes_differs_from_job(work: Work) -> Iterator[Finding]:
    """torchrun gets a number of nodes that differs from the job's.

    It waits for as many nodes as `--nnodes` says: with more it never starts, with fewer some nodes are left out
    (PyTorch, torchrun). Trainer sets `PET_NNODES` from `numNodes`.

    ## Fails

        jobs: [{name: llama, command: [torchrun, --nnodes=2, train.py]}]

    ## Passes

        jobs: [{name: llama, command: [torchrun, --nnodes=4, train.py]}]
    """
    if not work.nodes or not launches(work.words):
        return
    given = dict(options(work.words)).get("nnodes")
    if given is not None and given.isdigit() and int(given) != work.nodes:
        yield Finding(
            f"job `{work.name}` has {work.nodes} nodes, and torchrun gets `--nnodes` {given}",
            work.where_said("nnodes"),
            help="remove `--nnodes`: `PET_NNODES` is set",
        )
