"""Pairs of random edits of a spec on two branches, compiled, committed and merged by git: how they end.

Usage: merges.py [--pairs 200] [--seed 1] [--verbose]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from merging import Merge, merges  # noqa: E402 - made for the tests

ENDS = {0: "current", 1: "the merged spec is in error", 3: "stale, and reported"}
PER_BASE = 10


def end(found: Merge) -> str:
    """How a pair ended."""
    if any(path.startswith("specs/") for path in found.conflicts):
        return "the specs conflict"
    return "conflict in generated/" if found.conflicts else ENDS[found.code or 0]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--pairs", type=int, default=200)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--verbose", action="store_true", help="each pair that is not current")
    options = arguments.parse_args()
    ends: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for found in merges(Path(folder), options.seed, -(-options.pairs // PER_BASE), PER_BASE):
            ends[end(found)] += 1
            if options.verbose and end(found) != ENDS[0]:
                print(
                    f"{end(found)}: {found.edits} {found.conflicts} {found.stale} {found.findings}",
                    flush=True,
                )
    print(f"conflicts: {ends['conflict in generated/']}")
    for name, count in sorted(ends.items()):
        print(f"{name}: {count}")
    sys.exit(bool(ends["conflict in generated/"]))


if __name__ == "__main__":
    main()
