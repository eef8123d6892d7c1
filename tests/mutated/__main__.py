"""Usage: python -m tests.mutated [--inputs 300000] [--seed 1] [--first 0] [--specs 0.2] [--manifests FOLDER …]

``--named TEXT``: of lint the seeds whose name has a text, like ``slurm``."""

from __future__ import annotations

import argparse
import gc
import resource
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.mutated.inputs import inputs
from tests.mutated.judging import Judge
from tests.mutated.seeds import all_seeds

REPORTED = 5000
SLOW = 2.0
"""Seconds of CPU after which an input is named: it is no failure yet."""


def main() -> int:
    arguments = argparse.ArgumentParser(prog="python -m tests.mutated", usage=__doc__)
    arguments.add_argument("--inputs", type=int, default=300_000)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--first", type=int, default=0, help="the number of the first input")
    arguments.add_argument("--specs", type=float, default=0.2, help="the share of specs")
    arguments.add_argument("--manifests", type=Path, nargs="*", default=())
    arguments.add_argument("--named", default="", help="seeds of lint whose name has this")
    found_in = Path(tempfile.gettempdir()) / "trainyard-mutated"
    arguments.add_argument("--found", type=Path, default=found_in, help="where failures are kept")
    options = arguments.parse_args()
    options.found.mkdir(parents=True, exist_ok=True)
    seeds = all_seeds(*options.manifests)
    seeds["lint"] = [seed for seed in seeds["lint"] if options.named in seed.name]
    print(", ".join(f"{len(found)} seeds for {command}" for command, found in seeds.items()))
    gc.freeze()  # what seeds hold is never given back
    problems: Counter[str] = Counter()
    slowest = 0.0
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        judge = Judge(Path(folder))
        made = inputs(seeds, options.seed, options.first, options.inputs, options.specs)
        for number, seed, data in made:
            began = time.process_time()
            problem = judge.problem(seed, data)
            took = time.process_time() - began
            slowest = max(slowest, took)
            if took > SLOW:
                print(f"{options.seed}-{number}-{seed.command}: {took:.1f} s", flush=True)
            if problem is not None:
                problems[problem.about] += 1
                if problems[problem.about] == 1:
                    name = f"{options.seed}-{number}-{seed.command}"
                    (options.found / f"{name}.yaml").write_bytes(data)
                    (options.found / f"{name}.txt").write_text(f"{seed.name}\n{problem.text}")
                    print(f"{name}: {problem.about}", flush=True)
            done = number - options.first + 1
            if done % REPORTED == 0:
                _report(done, problems, slowest, time.monotonic() - start)
    print(f"{options.inputs:,} inputs, {problems.total()} failed, slowest {slowest:.1f} s of CPU")
    for about, count in problems.most_common():
        print(f"{count:7,}  {about}")
    return 1 if problems else 0


def _report(done: int, problems: Counter[str], slowest: float, seconds: float) -> None:
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{done:,} inputs, {problems.total()} failed, {done / seconds:.0f} a second, "
        f"slowest {slowest:.1f} s, {memory:.0f} MiB",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
