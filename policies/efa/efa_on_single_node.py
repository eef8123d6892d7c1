from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pods.plan import EFA
from trainyard.judge.model.bodies import held_back
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity


@rule(
    "EFA003",
    kubernetes="a job of Slurm has the EFA of its nodes without asking for it",
    severity=Severity.WARNING,
    pods=True,
)
def efa_on_single_node(work: Work, world: World) -> Iterator[Finding]:
    """A job of one node asks for EFA.

    EFA joins nodes; inside one node NCCL uses NVLink and shared memory. The job takes the devices, their huge
    pages and one address a device from others, and does not use them (EKS user guide, node-efa).

    ## Fails

        jobs: [{name: llama, nodes: 1, resources: {efa: 4}}]

    ## Passes

        jobs: [{name: llama, nodes: 1}]
    """
    if held_back(work, world) is not None:
        return  # RUN195 reports that its nodes start one after another
    if work.largest == 1 and work.efa:
        yield Finding(
            f"{work.title} has one node and asks for {work.efa} EFA devices",
            work.place(EFA),
            help=f"remove `{EFA}` and `hugepages-2Mi`",
            spec_help="remove `efa` of `resources`: a job of one node has no other to talk to",
        )
