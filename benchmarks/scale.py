"""Whether time and memory grow no faster than what is read.

Usage: scale.py [--megabytes 20] [--jobs 50000] [NAME …]

Each input is doubled three times, up to the size that is given, and each command is a process of its own, one at a
time. Where time is linear its factor is 2 a doubling, and 4 where it is quadratic. The factors are of seconds of CPU,
which other work on the machine changes little. NAME: of the inputs, those whose name has it.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench import ENV, PYTHON, ROOT, fresh, many_jobs

DOUBLINGS = 3


@dataclass(frozen=True)
class Run:
    """What a process took: seconds, of the clock and of CPU, and MiB of the largest process below it."""

    seconds: float
    cpu: float
    memory: float


@dataclass(frozen=True)
class Input:
    """Something that can be made in every size, and the command that reads it. ``size`` is of the unit ``unit``."""

    name: str
    command: str
    unit: str
    text: Callable[[int], str]


def measured(command: list[str]) -> Run:
    """A run of the compiler; findings are no failure, and anything else ends the benchmark."""
    start = time.perf_counter()
    child = subprocess.Popen(
        command, cwd=ROOT, env=ENV, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    _, status, usage = os.wait4(child.pid, 0)
    took = time.perf_counter() - start
    code = os.waitstatus_to_exitcode(status)
    if code not in (0, 1):
        said = child.stderr.read().decode() if child.stderr else ""
        sys.exit(f"{' '.join(command)} ended with {code}:\n{said[-2000:]}")
    return Run(took, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


# --- what is read; the sizes of manifests are in kilobytes


def _repeated(one: Callable[[int], str], size: int) -> str:
    """So many objects that together they have ``size`` kilobytes, each with its number."""
    count = max(1, size * 1000 // len(one(1000)))
    return "".join(one(index) for index in range(count))


def trainjobs(size: int) -> str:
    """TrainJobs of one shape, all of which need something that is elsewhere."""
    return _repeated(
        lambda index: (
            f"""---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata:
  name: job-{index}
  namespace: team-{index % 50}
  labels: {{kueue.x-k8s.io/queue-name: research}}
spec:
  runtimeRef: {{name: torch-{index % 100}}}
  trainer:
    image: registry.test/team/train:{index}
    numNodes: 2
    command: [torchrun, train.py, --seed={index}]
    env:
      - {{name: EXPERIMENT, value: "sweep-{index}"}}
    resourcesPerNode: {{limits: {{nvidia.com/gpu: "8"}}, requests: {{nvidia.com/gpu: "8"}}}}
"""
        ),
        size,
    )


def many_shapes(size: int) -> str:
    """Deployments, ConfigMaps, Services and Jobs, no two with the same keys."""

    def one(index: int) -> str:
        keys = "".join(f"    key-{index}-{number}: v\n" for number in range(index % 7))
        return f"""---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web-{index}
  namespace: team-{index % 50}
  labels:
    app: web-{index}
{keys}spec:
  selector: {{matchLabels: {{app: web-{index}}}}}
  template:
    metadata: {{labels: {{app: web-{index}}}}}
    spec:
      containers:
        - name: web
          image: registry.test/web:{index}
          envFrom: [{{configMapRef: {{name: web-{index}}}}}]
---
apiVersion: v1
kind: ConfigMap
metadata: {{name: web-{index}, namespace: team-{index % 50}}}
data:
  a-{index}: "{index}"
---
apiVersion: v1
kind: Service
metadata: {{name: web-{index}, namespace: team-{index % 50}}}
spec:
  selector: {{app: web-{index}}}
  ports: [{{port: 80}}]
---
apiVersion: batch/v1
kind: Job
metadata: {{name: job-{index}, namespace: team-{index % 50}}}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{{name: main, image: "registry.test/job:{index}", command: [sleep, "{index}"]}}]
"""

    return _repeated(one, size)


def faulty(size: int) -> str:
    """TrainJobs each of which has something that is refused and something that has no such name."""
    return _repeated(
        lambda index: (
            f"""---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {{name: job-{index}, namespace: team-a}}
spec:
  runtimeReff: {{name: torch}}
  runtimeRef: {{name: torch-{index}}}
  trainer:
    imagee: registry.test/team/train:{index}
    numNodes: "2"
    command: [torchrun, --nnodes=4, train.py]
    resourcesPerNode: {{limits: {{nvidia.com/gpus: "8"}}}}
"""
        ),
        size,
    )


def one_object(size: int) -> str:
    """One ConfigMap with a text of that size."""
    lines = "".join(f"    line {index} of a text\n" for index in range(size * 40))
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: text}}\ndata:\n  text: |\n{lines}"


def one_mapping(size: int) -> str:
    """One ConfigMap with a key a line."""
    lines = "".join(f"  key-{index}: value-{index}\n" for index in range(size * 37))
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: keys}}\ndata:\n{lines}"


def jobs(count: int) -> str:
    return many_jobs(count)


def faulty_jobs(count: int) -> str:
    """Jobs that ask for more than their pool has, each in words of its own."""
    return many_jobs(count).replace("      nodes: 2\n", "      nodes: 999\n")


INPUTS = (
    Input("TrainJobs", "lint", "kB", trainjobs),
    Input("four kinds, all shapes differ", "lint", "kB", many_shapes),
    Input("TrainJobs with three faults each", "lint", "kB", faulty),
    Input("one ConfigMap, one text", "lint", "kB", one_object),
    Input("one ConfigMap, a key a line", "lint", "kB", one_mapping),
    Input("jobs", "check", "jobs", jobs),
    Input("jobs that do not fit", "check", "jobs", faulty_jobs),
    Input("jobs", "compile", "jobs", jobs),
)


def sizes(most: int) -> list[int]:
    return [most >> doubling for doubling in range(DOUBLINGS, -1, -1)]


def measure(read: Input, most: int, scratch: Path) -> None:
    """Prints a row a size, with the factors of time and memory since the row before."""
    before: Run | None = None
    for size in sizes(most):
        file = scratch / "input.yaml"
        file.write_text(read.text(size), encoding="utf-8")
        command = [PYTHON, "-m", "trainyard", read.command, str(file), "-q"]
        if read.command == "compile":
            command += ["-o", str(fresh(scratch / "out"))]
        run = measured(command)
        factors = ["", ""]
        if before is not None:
            factors[0] = f"{run.cpu / before.cpu:.2f}"
            factors[1] = f"{run.memory / before.memory:.2f}"
        before = run
        print(
            f"| `{read.command}`: {read.name} | {size:,} {read.unit} | {run.seconds:.2f} | {run.cpu:.2f} "
            f"| {factors[0]} | {run.memory:.0f} | {factors[1]} |",
            flush=True,
        )
        file.unlink()


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--megabytes", type=int, default=20)
    arguments.add_argument("--jobs", type=int, default=50_000)
    arguments.add_argument("names", nargs="*", metavar="NAME")
    options = arguments.parse_args()
    print(
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}\n\n"
        "| what | size | wall, s | CPU, s | factor | MiB | factor |\n| --- | --- | --- | --- | --- | --- | --- |",
        flush=True,
    )
    with tempfile.TemporaryDirectory() as folder:
        for read in INPUTS:
            title = f"{read.command}: {read.name}"
            if options.names and not any(name in title for name in options.names):
                continue
            most = options.jobs if read.unit == "jobs" else options.megabytes * 1000
            measure(read, most, Path(folder))


if __name__ == "__main__":
    main()
