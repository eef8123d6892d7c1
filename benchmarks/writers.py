"""YAML writers over every object of generated/: microseconds an object, and whether their bytes are ours.

Usage: writers.py [--rounds 5]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]

from trainyard.output.emit.yaml import dump  # noqa: E402 - of this folder


def ours(body: dict[str, Any]) -> str:
    return dump(body)


def libyaml(body: dict[str, Any]) -> str:
    """PyYAML's writer in C. It quotes for YAML 1.1 alone, and writes scripts as quoted texts."""
    text: str = yaml.dump(
        body,
        Dumper=yaml.CSafeDumper,
        sort_keys=False,
        default_flow_style=False,
        width=1_000_000,
        allow_unicode=True,
    )
    return text


def bodies() -> list[dict[str, Any]]:
    """Every object of the generated clusters."""
    files = sorted((ROOT / "generated").glob("*/*/*.yaml"))
    loaded = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in files]
    return [body for body in loaded if isinstance(body, dict)]


def fastest(
    write: Callable[[dict[str, Any]], str], objects: list[dict[str, Any]], rounds: int
) -> float:
    """The seconds of the fastest round over all objects."""
    times = []
    for _ in range(rounds):
        begun = time.perf_counter()
        for body in objects:
            write(body)
        times.append(time.perf_counter() - begun)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    objects = bodies()
    for name, write in (("ours", ours), ("PyYAML CSafeDumper", libyaml)):
        seconds = fastest(write, objects, options.rounds)
        same = sum(write(body) == ours(body) for body in objects)
        each = 1e6 * seconds / len(objects)
        print(f"{name:20} {each:6.0f} µs an object, {same} of {len(objects)} as ours")


if __name__ == "__main__":
    main()
