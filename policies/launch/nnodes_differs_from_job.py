from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import Severity
from compiler.model.command import launches, named_options
from compiler.model.gangs import is_elastic
from compiler.model.work import Work
from compiler.policy.rule import Finding, rule


@rule("RUN010", gangs=True, aliases=("nodes-in-command",))
def nnodes_differs_from_job(work: Work) -> Iterator[Finding]:
    """torchrun gets a number of nodes that differs from the job's.

    It waits for as many nodes as `--nnodes` says: with more it never starts, with fewer some nodes are left out
    (PyTorch, torchrun). Trainer sets `PET_NNODES` from `numNodes`.

    With a range like `2:4` torchrun starts half a minute after the least number is there, and restarts all ranks for
    each node that comes later (torch 2.8, dynamic_rendezvous.py, `last_call_timeout`). Kueue admits all nodes or none,
    so the range wins nothing.

    ## Fails

        jobs: [{name: llama, command: [torchrun, --nnodes=2, train.py]}]

        jobs: [{name: llama, command: [torchrun, "--nnodes=1:4", train.py]}]

        jobs: [{name: llama, command: [torchrun, "--nnodes=5:8", train.py]}]

    ## Passes

        jobs: [{name: llama, command: [torchrun, --nnodes=4, train.py]}]
    """
    if not work.nodes or not launches(work.words):
        return
    if work.own_sets and (is_elastic(work) or work.accelerator is None):
        return  # of pods without accelerators some may run another program
    given = named_options(work.words).get("nnodes")
    if given is None:
        return
    least, _, most = given.partition(":")
    if most:
        yield from _range(work, work.nodes, given, least, most)
    elif given.isdecimal() and int(given) != work.nodes:
        yield Finding(
            f"job `{work.name}` has {work.nodes} nodes, and torchrun gets `--nnodes` {given}",
            work.where_said("nnodes"),
            help=_help(work),
        )


def _help(work: Work) -> str:
    if work.own_sets:
        return f"write `--nnodes={work.nodes}`"
    return "remove `--nnodes`: `PET_NNODES` is set"


def _range(work: Work, nodes: int, given: str, least: str, most: str) -> Iterator[Finding]:
    if not least.isdecimal() or not most.isdecimal():
        return
    lower = int(least)
    upper = int(most)
    if lower == upper == nodes:
        return
    label, severity = "", None
    if lower <= nodes <= upper:  # it can start
        label = "all ranks restart for each node that comes late"
        severity = Severity.WARNING
    yield Finding(
        f"job `{work.name}` has {nodes} nodes, and torchrun gets `--nnodes` {given}",
        work.where_said("nnodes"),
        label=label,
        help=_help(work),
        severity=severity,
    )
