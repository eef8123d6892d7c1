from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.command import starts
from trainyard.judge.model.mpirun import PROGRAMS, ranks_of
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule


@rule("RUN060")
def mpi_ranks_differ_from_slots(work: Work) -> Iterator[Finding]:
    """mpirun gets another number of ranks than the nodes have slots.

    Trainer writes a host file with each node and `slots=numProcPerNode` (trainer v2.3.0, mpi plugin). With more ranks
    than slots mpirun starts none ("There are not enough slots available", Open MPI 4.1); with fewer, accelerators of
    the last nodes stay idle. Without `-np` it starts one in each slot. `--oversubscribe` and `--map-by` are meant.

    ## Fails

        jobs: [{name: llama, nodes: 4, launcher: {mpi: {}}, command: [mpirun, -np, "64", python, train.py]}]

        jobs: [{name: llama, nodes: 4, launcher: {mpi: {}}, command: [bash, -c, "exec mpirun -np 8 ./solve"]}]

    ## Passes

        jobs: [{name: llama, nodes: 4, launcher: {mpi: {}}, command: [mpirun, -np, "32", python, train.py]}]

        jobs: [{name: llama, nodes: 4, launcher: {mpi: {}}, command: [mpirun, python, train.py, -n, "5"]}]

        jobs: [{name: llama, nodes: 4, launcher: {mpi: {}}, command: [mpirun, --oversubscribe, -np, "64", python, x]}]
    """
    if work.framework != "mpi" or work.nodes is None:
        return
    if not isinstance(work.processes, int):
        return
    if not any(starts(work.words, program) for program in PROGRAMS):
        return
    slots = work.nodes * work.processes
    ranks = ranks_of(work.words)
    if ranks is None or ranks == slots:
        return
    if ranks > slots:
        more = "it starts none"
    else:
        more = f"{slots - ranks} slots stay idle"
    yield Finding(
        f"job `{work.name}` starts {ranks} ranks, and its {work.nodes} nodes have {slots} slots",
        work.where_said("-n"),
        label=more,
        help=f"remove `-np`, or write {slots}",
    )
