"""How long the simulation of Kueue takes, and how that grows.

Usage: simulation.py [--process] [JOBS …]

Queues share their nodes by tens, and there are two nodes and a tenth of a queue for each job. Seconds are of CPU. With
``--process``: of whole processes, ``trainyard simulate`` and ``simulate --timeline``, with everything that a ``check``
does besides, for a spec with so many jobs.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml
from bench import ENV, PYTHON, ROOT
from trainyard.extensions.forecast.simulate.compiled import Cluster
from trainyard.extensions.forecast.simulate.forecasts import forecast
from trainyard.extensions.forecast.simulate.objects import Job
from trainyard.extensions.forecast.simulate.reading import PoolNodes
from trainyard.extensions.forecast.timeline.outlook import timeline
from trainyard.extensions.forecast.timeline.windows import Windows
from trainyard.judge.model.lengths import Basis, Length

sys.path[:0] = [str(Path(__file__).parents[1] / "tests")]

from simulate.worlds import job, made, queue  # noqa: E402 - of the tests

_RECLAIM = {"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Any"}
_NEVER = {"withinClusterQueue": "Never", "reclaimWithinCohort": "Never"}
_RACKS = 20
_SIZES = (250, 500, 1000, 2000)
_LOADS = {"half": "half of them wait", "fit": "all fit", "wait": "one of each queue fits"}


def _widths(count: int, load: str) -> Iterator[int]:
    """The nodes of each job: up to eight; or one; or where most wait, first as many as a queue has."""
    chosen = random.Random(1)
    for index in range(count):
        if load == "fit":
            yield 1
        elif load == "wait" and index < count // 10:
            yield 20
        else:
            yield chosen.randint(1, 8)


def cluster(count: int, load: str, *, topology: bool, preemption: bool) -> Cluster:
    """A cluster with so many jobs. Where one of each queue fits, that one has the highest priority."""
    chosen = random.Random(2)
    queues, nodes = count // 10, 2 * count
    more: dict[str, Any] = {"preemption": _RECLAIM} if preemption else {}
    made_queues = [
        queue(f"q{index}", 8 * nodes // queues, cohortName=f"c{index // 10}", **more)
        for index in range(queues)
    ]
    world = made(*made_queues, racks=[nodes // _RACKS] * _RACKS)
    if not topology:
        flavors = {name: replace(each, topology=None) for name, each in world.flavors.items()}
        world = replace(world, flavors=flavors)
    mode = "preferred" if topology else None
    jobs: list[Job] = []
    for index, width in enumerate(_widths(count, load)):
        first = load == "wait" and index < queues
        name = f"q{index if first else chosen.randrange(queues)}"
        priority = 3 if first else chosen.randrange(3)
        jobs.append(job(f"j{index}", name, width, mode=mode, priority=priority))
    pool = PoolNodes("main", "", world.nodes, bounded=True)
    return Cluster("bench", world, tuple(jobs), {}, (), (pool,), (), frozenset())


def seconds(subject: Cluster) -> tuple[float, float]:
    """CPU seconds of a forecast, and of a timeline of jobs of 10 minutes to 100 hours."""
    chosen = random.Random(3)
    lengths = {
        (each.namespace, each.name): Length(Basis.EXPECTED, 60 * chosen.randint(10, 6000))
        for each in subject.jobs
    }
    begin = time.process_time()
    forecast(subject)
    middle = time.process_time()
    timeline(subject, lengths, Windows({}, None))
    return middle - begin, time.process_time() - middle


def spec(count: int, *, topology: bool, preemption: bool) -> str:
    """A spec with so many jobs, of which half wait."""
    chosen = random.Random(1)
    queues, nodes = count // 10, 2 * count
    size: dict[str, Any] = {"nodes": {"max": nodes}}
    if topology:
        size = {"nodes": nodes, "topology": "network"}
    jobs = [
        {
            "name": f"j{index}",
            "queue": f"q{chosen.randrange(queues)}",
            "nodes": chosen.randint(1, 8),
            "priority": f"p{chosen.randrange(3)}",
            "expected": f"{chosen.randint(10, 6000)}m",
            "timeout": "120h",
            "image": "public.ecr.aws/docker/library/python:3.12",
            "command": ["torchrun", "train.py"],
            **({"topology": {"preferred": "network-node-layer-3"}} if topology else {}),
        }
        for index in range(count)
    ]
    body = {
        "apiVersion": "trainyard.dev/v1alpha1",
        "kind": "TrainingCluster",
        "metadata": {"name": "bench"},
        "spec": {
            "account": "111122223333",
            "region": "ap-northeast-2",
            "platform": {"eks": {"apiServer": {"public": ["203.0.113.0/24"]}}},
            "nodePools": [
                {
                    "name": "h100",
                    "instanceTypes": ["p5.48xlarge"],
                    "zones": ["ap-northeast-2a"],
                    **size,
                }
            ],
            "namespaces": [{"name": "team"}],
            "priorities": [{"name": f"p{index}", "value": 100 * index} for index in range(3)],
            "cohorts": [{"name": f"c{index}"} for index in range((queues + 9) // 10)],
            "queues": [
                {
                    "name": f"q{index}",
                    "namespaces": ["team"],
                    "cohort": f"c{index // 10}",
                    "quota": [{"pool": "h100", "nodes": nodes // queues}],
                    "preemption": _RECLAIM if preemption else _NEVER,
                }
                for index in range(queues)
            ],
            "jobs": jobs,
        },
    }
    return yaml.safe_dump(body, sort_keys=False)


def _kinds() -> Iterator[tuple[str, dict[str, bool]]]:
    for topology in (False, True):
        for preemption in (False, True):
            words = f"{'topology' if topology else '-'} | {'preemption' if preemption else '-'}"
            yield words, {"topology": topology, "preemption": preemption}


def _cpu(command: list[str]) -> float:
    """CPU seconds of a run of the compiler, whose output is of no interest."""
    with open(os.devnull, "wb") as nowhere:
        child = subprocess.Popen(
            [PYTHON, "-m", "trainyard", *command], cwd=ROOT, env=ENV, stdout=nowhere, stderr=nowhere
        )
    _, status, usage = os.wait4(child.pid, 0)
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        sys.exit(f"{' '.join(command)} ended with {os.waitstatus_to_exitcode(status)}")
    return usage.ru_utime + usage.ru_stime


def processes(sizes: list[int]) -> None:
    """CPU seconds of whole processes, beside those of a check."""
    commands = (["check", "--no-cache"], ["simulate"], ["simulate", "--timeline"])
    print("| jobs | topology | preemption | check, s | simulate, s | simulate --timeline, s |")
    for count in sizes:
        for words, kind in _kinds():
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "spec.yaml"
                path.write_text(spec(count, **kind))
                took = [_cpu([*command, str(path)]) for command in commands]
            print(
                f"| {count:,} | {words} | {' | '.join(f'{each:.1f}' for each in took)} |",
                flush=True,
            )


def main() -> None:
    """Growth where half of the jobs wait, then the other loads with the third size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("jobs", nargs="*", type=int, metavar="JOBS")
    parser.add_argument("--process", action="store_true", help="measure whole processes")
    options = parser.parse_args()
    if options.process:
        processes(options.jobs or [1000])
        return
    print("| jobs | topology | preemption | load | forecast, s | timeline, s |")
    sizes = options.jobs or list(_SIZES)
    rows = [(size, "half") for size in sizes]
    rows += [(sizes[len(sizes) // 2], load) for load in ("fit", "wait")]
    for words, kind in _kinds():
        for count, load in rows:
            one, other = seconds(cluster(count, load, **kind))
            print(f"| {count:,} | {words} | {_LOADS[load]} | {one:.2f} | {other:.2f} |", flush=True)


if __name__ == "__main__":
    main()
