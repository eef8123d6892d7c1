"""The tests of kinds: what each walks over, how much of it in `make test`, and what that takes.

`python -m tests.kinds` runs them and prints the table of CONTRIBUTING.md.
"""

from __future__ import annotations

import resource
import sys
from collections import Counter
from collections.abc import Generator
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
KINDS = {
    "plan/test_naming.py": "names that are made, of names with a moved dash or of the longest length",
    "platforms/test_keys_of_kinds.py": "each key of a job, on each kind of object",
    "platforms/test_side_by_side.py": "one edit, on all platforms; one command, in a pod and in a batch script",
    "platforms/test_taken.py": "each key of the spec, on each platform: it does something",
    "policy/test_every_kind.py": "each rule about a job, in every kind of job",
    "policy/test_every_one.py": "each fault, in every one of several containers, sets of pods, types, objects",
    "policy/test_helps_applied.py": "each help, applied by machine",
    "policy/test_left_to_others.py": "each case that a rule leaves to another one",
    "policy/test_same_keys.py": "each rule, on every platform, launcher of pools and kind of job",
    "policy/test_same_verdict.py": "each fault, with lists turned round and defaults left out",
    "policy/test_spellings.py": "commands in every way a shell is told them",
    "report/test_numbers.py": "the numbers of each spec, against each other",
    "resolve/test_helps_of_kinds.py": "what each help about a kind of job leads to",
    "spec/test_odd_values_of_every_class.py": "odd values of each class, at every key that has one of it",
    "subjects/test_added_containers.py": "each path that a container of ours touches",
    "test_pairs_of_features.py": "each pair of features, in some cluster",
    "test_tables.py": "tables by hand, against what defines them",
}
"""By file, what a test walks over."""
HEAD = "| test | walks over | cases in all | in `make test` | CPU s |"
RULE = "| --- | --- | --- | --- | --- |"
LIMIT = 60
"""Seconds of CPU that all of them may take in `make test`."""


def cpu() -> float:
    """Seconds of CPU of this process and of those that it waited for."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    used = [resource.getrusage(kind) for kind in kinds]
    return sum(each.ru_utime + each.ru_stime for each in used)


class Meter:
    """What the tests of each file take."""

    def __init__(self) -> None:
        self.seconds = Counter[Path]()
        self.tests = Counter[Path]()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        before = cpu()
        try:
            return (yield)
        finally:
            self.seconds[item.path] += cpu() - before
            self.tests[item.path] += 1


def main(options: list[str]) -> int:
    meter = Meter()
    files = [TESTS / name for name in KINDS]
    failed = pytest.main([*map(str, files), "-p", "no:xdist", *options], plugins=[meter])
    from drawn import Counts, Walk  # of the run that ended

    lines = [HEAD, RULE]
    for (name, what), file in zip(KINDS.items(), files, strict=True):
        counts = Walk.counts.get(str(file), Counts(meter.tests[file], meter.tests[file]))
        seconds = f"{meter.seconds[file]:.1f}"
        lines.append(f"| `{name}` | {what} | {counts.all} | {counts.walked} | {seconds} |")
    lines.append(f"| all | | | | {meter.seconds.total():.1f} |")
    sys.stdout.write("\n".join((*lines, "")))
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
