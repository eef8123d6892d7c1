from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import Severity
from compiler.plan.jobs import GPU
from compiler.policy.command import launches, options
from compiler.policy.fit import over_node
from compiler.policy.rule import Finding, rule
from compiler.policy.work import Work
from compiler.policy.world import World


@rule("RUN011", severity=Severity.WARNING)
def processes_differ_from_devices(work: Work, world: World) -> Iterator[Finding]:
    """The number of processes a node differs from the number of GPUs.

    With fewer, GPUs stay idle; with more, two processes share one and NCCL refuses ("Duplicate GPU detected"). What a
    command does not say, torchrun takes from `PET_NPROC_PER_NODE`, and Trainer sets that to `numProcPerNode` whatever
    the command is (trainer v2.3.0, pkg/runtime/framework/plugins/torch).

    ## Fails

        jobs: [{name: llama, processesPerNode: 4}]

    ## Passes

        jobs: [{name: llama, processesPerNode: 8}]
    """
    asked = work.accelerator
    torch = (
        work.runtime is not None
        and work.runtime.framework == "torch"
        and work.job.trainer
    )
    if (
        asked is None
        or asked[0] != GPU
        or not (torch or launches(work.words))
        or over_node(work, world)
    ):
        return
    given = dict(options(work.words)).get("nproc-per-node")
    told = (
        int(given)
        if given is not None and given.isdigit()
        else None
        if given
        else work.job.processes
    )
    if (
        work.gang
        and work.types
        and asked[1] < min(instance.accelerators for instance in work.types) == told
    ):
        return  # reported as GPUs that the job leaves idle
    if isinstance(told, int) and told != asked[1]:
        yield Finding(
            f"job `{work.name}` starts {told} processes a node and has {asked[1]} GPUs",
            work.where_said("nproc-per-node") if given else work.where("processes"),
            help=f"write {asked[1]}, or remove it",
        )
