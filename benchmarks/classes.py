"""What a frozen class of eight fields costs, to make and to use (docs/adr/0007). Usage: classes.py [--classes N]

Prints, for the standard decorator, for ours and, where it is installed, for msgspec: milliseconds for a class, with the
first object of it; microseconds for an object after many; and milliseconds for the import, in a process of its own.
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib.util
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from trainyard.language.dataclass import dataclass  # noqa: E402 - found by the line above

FIELDS = tuple("abcdefgh")
OBJECTS = 20_000
Maker = Callable[[int], Any]


def namespace() -> dict[str, Any]:
    return {"__annotations__": dict.fromkeys(FIELDS, "int"), "__module__": __name__}


def standard(number: int) -> Any:
    cls = type(f"Standard{number}", (), namespace())
    return dataclasses.dataclass(frozen=True, slots=True)(cls)


def ours(number: int) -> Any:
    return dataclass(frozen=True, slots=True)(type(f"Ours{number}", (), namespace()))


def struct(number: int) -> Any:
    import msgspec

    return msgspec.defstruct(f"Struct{number}", [(name, int) for name in FIELDS], frozen=True)


def seconds_of_import(module: str) -> float:
    """Beyond a process that imports nothing; the median of nine."""
    program = f"import time; start = time.perf_counter(); import {module}; print(time.perf_counter() - start)"
    runs = [
        subprocess.run(
            [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
        )
        for _ in range(9)
    ]
    return statistics.median(float(run.stdout) for run in runs)


def measure(make: Maker, count: int) -> tuple[float, float]:
    """Seconds for a class with its first object, and for an object after many."""
    make(0)
    values = range(len(FIELDS))
    start = time.perf_counter()
    for number in range(count):
        make(number)(*values)
    per_class = (time.perf_counter() - start) / count
    cls = make(0)
    for _ in range(100):
        cls(*values)
    start = time.perf_counter()
    for _ in range(OBJECTS):
        cls(*values)
    return per_class, (time.perf_counter() - start) / OBJECTS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--classes", type=int, default=150)
    count = parser.parse_args().classes
    makers: list[tuple[str, Maker, str]] = [
        ("dataclasses", standard, "dataclasses"),
        ("trainyard.language.dataclass", ours, "trainyard.language.dataclass"),
    ]
    if importlib.util.find_spec("msgspec"):
        makers.append(("msgspec", struct, "msgspec"))
    print("| what | a class, ms | an object, µs | import, ms |\n| --- | --- | --- | --- |")
    for name, make, module in makers:
        per_class, per_object = measure(make, count)
        took = seconds_of_import(module)
        print(f"| {name} | {1e3 * per_class:.3f} | {1e6 * per_object:.2f} | {1e3 * took:.1f} |")


if __name__ == "__main__":
    main()
