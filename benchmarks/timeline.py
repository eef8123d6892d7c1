"""How long a timeline takes: ``python benchmarks/timeline.py [JOBS]``."""

from __future__ import annotations

import random
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from compiler.model.lengths import Basis, Length
from compiler.simulate.compiled import Cluster
from compiler.simulate.pools import PoolNodes
from compiler.timeline.engine import timeline
from compiler.timeline.windows import Windows

sys.path[:0] = [str(Path(__file__).parents[1] / "tests")]

from simulate.worlds import job, made, queue  # noqa: E402 - of the tests

_RECLAIM = {"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Any"}
_RACKS = 20


def measure(count: int, *, topology: bool, preemption: bool) -> str:
    """Seconds for so many jobs of 1 to 8 nodes and 10 minutes to 100 hours, which want about twice as many nodes as
    there are; queues share their nodes by tens."""
    chosen = random.Random(1)
    queues = count // 10
    nodes = 2 * count
    more: dict[str, Any] = {"preemption": _RECLAIM} if preemption else {}
    made_queues = [
        queue(f"q{index}", 8 * nodes // queues, cohortName=f"c{index // 10}", **more)
        for index in range(queues)
    ]
    world = made(*made_queues, racks=[nodes // _RACKS] * _RACKS)
    if not topology:
        flavors = {name: replace(each, topology=None) for name, each in world.flavors.items()}
        world = replace(world, flavors=flavors)
    jobs = tuple(
        job(
            f"j{index}",
            f"q{chosen.randrange(queues)}",
            chosen.randint(1, 8),
            mode="preferred" if topology else None,
            priority=chosen.randrange(3),
        )
        for index in range(count)
    )
    lengths = {
        (each.namespace, each.name): Length(Basis.EXPECTED, 60 * chosen.randint(10, 6000))
        for each in jobs
    }
    pool = PoolNodes("main", "", world.nodes, bounded=True)
    cluster = Cluster("bench", world, jobs, {}, (), (pool,), (), frozenset())
    begin = time.perf_counter()
    done = timeline(cluster, lengths, Windows({}, None))
    seconds = time.perf_counter() - begin
    attempts = sum(len(course.attempts) for course in done.courses)
    return f"{count} jobs, {queues} queues, {nodes} nodes: {seconds:.1f} s, {attempts} attempts"


def main() -> None:
    """Each kind of world, the fastest first."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    for topology in (False, True):
        for preemption in (False, True):
            words = [
                "with a topology" if topology else "without a topology",
                "with preemption" if preemption else "without preemption",
            ]
            print(
                f"{', '.join(words)}: {measure(count, topology=topology, preemption=preemption)}",
                flush=True,
            )


if __name__ == "__main__":
    main()
