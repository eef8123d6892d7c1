from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.kueue.plan import Flavor
from trainyard.judge.model.blocks import always_fit, blocks_of, countable, gangs_of, placement
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity


@rule("QUE022", severity=Severity.WARNING)
def gang_across_blocks(flavor: Flavor, world: World) -> Iterator[Finding]:
    """Jobs cannot all be placed without one of them spanning two blocks of nodes.

    Nodes of one Capacity Block are close together, those of two are not (EC2 user guide, Capacity Blocks): a gang that
    spans two talks over a slower path. With the reservation as the widest level of a Topology, Kueue keeps a gang
    inside one where it fits; a job that *prefers* a level is spread where it does not, one that *requires* it waits
    (kueue v0.19.2, topology aware scheduling).

    Reported are a job that is larger than every block; jobs for which no placement exists; and, as a note, jobs that
    have a placement which may not come about, since Kueue places one after the other and moves none: 6 × 11 and 14
    nodes fit into blocks of 55 and 25, and not if the first job of 11 takes the smaller one.

    ## Fails

        nodePools:
          - name: gpu
            nodes: 6
            capacity: {block: {reservations: [
              {id: cr-0a1b2c3d4e5f60718, nodes: 3}, {id: cr-0a1b2c3d4e5f60719, nodes: 3}]}}
        queues: [{name: research, quota: [{pool: gpu, nodes: 6}]}]

        nodePools:
          - name: gpu
            nodes: 8
            capacity: {block: {reservations: [
              {id: cr-0a1b2c3d4e5f60718, nodes: 5}, {id: cr-0a1b2c3d4e5f60719, nodes: 3}]}}
        queues: [{name: research, quota: [{pool: gpu, nodes: 8}]}]
        jobs: [{name: llama, nodes: 4}, {name: second, queue: research, pool: gpu, nodes: 3, timeout: 12h,
          image: "public.ecr.aws/team/train:1.0", command: [torchrun, train.py]}]

    ## Passes

        nodePools:
          - name: gpu
            nodes: 6
            capacity: {block: {reservations: [
              {id: cr-0a1b2c3d4e5f60718, nodes: 4}, {id: cr-0a1b2c3d4e5f60719, nodes: 2}]}}
        queues: [{name: research, quota: [{pool: gpu, nodes: 6}]}]
    """
    blocks = blocks_of(flavor, world)
    if len(blocks) < 2:
        return
    room = tuple(blocks.values())
    largest = max(room)
    gangs = gangs_of(flavor, world)
    large = [work for work in gangs if (work.nodes or 0) > largest]
    for work in large:
        yield _too_large(work, largest)
    if large:
        return
    sizes = [work.nodes or 0 for work in gangs]
    if len(gangs) < 2 or sum(sizes) > sum(room):
        return  # more than there are nodes for run one after the other
    if not countable(room, sizes):
        return
    descending = sorted(room, reverse=True)
    said = " and ".join(map(str, descending))
    if placement(room, sizes) is None:
        lost = gangs[-1]
        yield Finding(
            f"{_names(gangs)} have no placement in blocks of {said} nodes: one spans two",
            lost.where("nodes"),
            label="it talks over a slower path",
            help="change the nodes of a job, so that each block holds whole jobs",
        )
    elif not always_fit(room, sizes):
        yield Finding(
            f"{_names(gangs)} fit into blocks of {said} nodes, and not in every order",
            gangs[0].where("nodes"),
            label="one may span two blocks",
            severity=Severity.NOTE,
            help="leave some nodes of a block free, or write one pool for each block",
        )


def _too_large(work: Work, largest: int) -> Finding:
    label, severity = "it spans two blocks", Severity.WARNING
    if work.pod is not None and _REQUIRED in work.pod.annotations:
        label, severity = "it is never admitted", Severity.ERROR
    return Finding(
        f"job `{work.name}` has {work.nodes} nodes, and the largest block {largest}",
        work.where("nodes"),
        label=label,
        help=f"lower the job to {largest} nodes, or take a larger block",
        severity=severity,
    )


def _names(works: list[Work]) -> str:
    names = [f"`{work.name}` ({work.nodes})" for work in works]
    *rest, last = names
    return f"jobs {', '.join(rest)} and {last}"


_REQUIRED = "kueue.x-k8s.io/podset-required-topology"
