"""How much of the compiler the tests hold: small faults are put into it, one at a time, and the tests must find them.

    python benchmarks/mutants.py                       100 of them
    python benchmarks/mutants.py --count 20 --seed 7   others, which are the same in every run
    python benchmarks/mutants.py --slow                the tests that `make test-fast` leaves out, too

A fault is a turned comparison, condition or boolean, another number, a sum for a difference, or a `return None` in a
function of compiler/ or policies/. One run of the tests notes which of them call the functions that were chosen; then
each fault meets those tests, in a copy of the repository, and who survives them meets mypy, which is a part of
`make test`. Prints who survived, and how many were killed, by tests and by types.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.util import cache_from_source
from itertools import chain, zip_longest
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("compiler", "policies")
MADE_BY_HAND = {"derive.py", "build.py", "refresh.py"}
"""Scripts that make data, which is committed."""
FEW = 40
"""Tests that a fault meets first. Who survives them meets the others that call its function."""
PATIENCE = 300
"""Seconds after which a fault is one that never ends."""
SURVIVED, BY_TESTS, BY_TYPES = "survived", "killed", "killed by types"
EVERYTHING = "tests/own/test_specs.py"
"""Whether `generated/` is what the specs compile to: it calls most functions, some of them once in a process."""

TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
LEFT_ALONE = (ast.Assert, ast.Raise, ast.JoinedStr, ast.arguments)
"""What states facts, words messages, or has no place of its own."""

PLUGIN = """
import os
import sys

called, passed, failed = set(), set(), set()
seen, kept = set(), []
session = None


def pytest_configure():
    global session
    session = os.getpid()


def hit(number):
    call = number, os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
    if call in called:
        return
    called.add(call)
    if os.getpid() != session:
        with open(f"{__file__}.{os.getpid()}", "a") as file:
            file.write(f"{number}\\t{call[1]}\\n")


def pytest_runtest_setup(item):
    for name in set(sys.modules) - seen:
        seen.add(name)
        if name.split(".")[0] in ("compiler", "policies"):
            for value in list(vars(sys.modules[name]).values()):
                inner = vars(value).values() if isinstance(value, type) else ()
                kept.extend(each for each in (value, *inner) if hasattr(each, "cache_clear"))
    for function in kept:
        function.cache_clear()


def pytest_runtest_logreport(report):
    if report.failed:
        failed.add(report.nodeid)
    elif report.when == "call":
        passed.add(report.nodeid)


def pytest_sessionfinish():
    with open(f"{__file__}.{os.getpid()}", "w") as file:
        file.writelines(f"{number}\\t{test}\\n" for number, test in sorted(called))
        file.writelines(f"+\\t{test}\\n" for test in sorted(passed))
        file.writelines(f"-\\t{test}\\n" for test in sorted(failed))
"""
"""A plugin of pytest that notes which tests call what, in processes that they start too. Answers that functions keep
are forgotten before each test, or the first test alone would be said to call them."""


@dataclass(frozen=True)
class Fault:
    """A place in a file, and what stands there instead."""

    path: str
    line: int
    function: str
    first: int
    """Line of the first statement of the function."""
    start: int
    end: int
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line} {self.function}: `{self.before}` became `{self.after}`"


def faults(path: Path) -> Iterator[Fault]:
    """All that can be put into a file."""
    data = path.read_bytes()
    starts = [0]
    for line in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for function in ast.walk(ast.parse(data)):
        if not isinstance(function, ast.FunctionDef):
            continue
        body = function.body[1:] if ast.get_docstring(function) is not None else function.body
        if not body or body[0].lineno == function.lineno:
            continue
        for node in chain.from_iterable(map(inside, body)):
            for changed in variants(node):
                start = starts[node.lineno - 1] + node.col_offset
                end = starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
                text = ast.unparse(changed)
                if isinstance(changed, ast.expr):
                    text = f"({text})"
                yield Fault(
                    path.relative_to(ROOT).as_posix(),
                    node.lineno,
                    function.name,
                    first_line(body[0]),
                    start,
                    end,
                    " ".join(data[start:end].decode().split()),
                    text,
                )


def first_line(statement: ast.stmt) -> int:
    decorators = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(each.lineno for each in decorators)])


def inside(node: ast.AST) -> Iterator[ast.expr | ast.stmt]:
    """A statement or expression and what it is made of, without inner functions, which are asked on their own."""
    if isinstance(node, (*LEFT_ALONE, ast.FunctionDef, ast.ClassDef)):
        return
    if isinstance(node, ast.expr | ast.stmt):
        yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "type_params"):
            continue
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, ast.AST):
                yield from inside(each)


def variants(node: ast.expr | ast.stmt) -> Iterator[ast.expr | ast.stmt]:
    """What a node can become by mistake."""
    changed = copy.deepcopy(node)
    match changed:
        case ast.Compare(ops=[one]) if type(one) in TURNED:
            changed.ops = [TURNED[type(one)]()]
        case ast.BoolOp():
            changed.op = ast.Or() if isinstance(changed.op, ast.And) else ast.And()
        case ast.UnaryOp(op=ast.Not()):
            changed = changed.operand
        case ast.Constant(value=bool(value)):
            changed = ast.Constant(not value)
        case ast.Constant(value=int(value)):
            changed = ast.Constant(value + 1)
        case ast.BinOp(op=ast.Add()):
            changed.op = ast.Sub()
        case ast.BinOp(op=ast.Sub()):
            changed.op = ast.Add()
        case ast.Return(value=ast.expr() as value) if not is_none(value):
            changed = ast.Return(ast.Constant(None))
        case ast.IfExp():
            changed.test = ast.UnaryOp(ast.Not(), changed.test)
        case _:
            return
    yield ast.fix_missing_locations(changed)


def is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def chosen(count: int, seed: int) -> list[Fault]:
    """A sample of all faults."""
    paths = sorted(
        path
        for folder in FOLDERS
        for path in (ROOT / folder).rglob("*.py")
        if path.name not in MADE_BY_HAND and "scripts" not in path.parts
    )
    known = [fault for path in paths for fault in faults(path)]
    print(f"{len(known)} places, {count} of them by seed {seed}", flush=True)
    return random.Random(seed).sample(known, count)


def copied(folder: Path) -> Path:
    """A copy of the repository."""
    ignored = shutil.ignore_patterns(".git", ".venv", ".*_cache", "__pycache__")
    shutil.copytree(ROOT, folder, ignore=ignored, symlinks=True)
    (folder / ".git").mkdir()
    shared = ROOT.parent / "shared"
    if shared.is_dir() and not (folder.parent / "shared").exists():
        (folder.parent / "shared").symlink_to(shared)
    return folder


def pytest(folder: Path, *words: str, patience: int | None = None) -> int | None:
    """How pytest ends there; ``None`` if it does not."""
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", "-q", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder / "compiler")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        return process.wait(patience)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return None


def callers(sample: Sequence[Fault], folder: Path, *, slow: bool) -> list[list[str]]:
    """By fault, the tests that call its function and pass, those of different files first."""
    lines: dict[str, dict[int, list[int]]] = {}
    for number, fault in enumerate(sample):
        lines.setdefault(fault.path, {}).setdefault(fault.first, []).append(number)
    for path, places in lines.items():
        text = (folder / path).read_text().splitlines(keepends=True)
        for line, numbers in sorted(places.items(), reverse=True):
            indent = text[line - 1][: -len(text[line - 1].lstrip())]
            calls = "; ".join(f'__import__("mutant_calls").hit({each})' for each in numbers)
            text.insert(line - 1, f"{indent}{calls}\n")
        (folder / path).write_text("".join(text))
    (folder / "mutant_calls.py").write_text(PLUGIN)
    only = () if slow else ("-m", "not slow")
    pytest(folder, "-p", "mutant_calls", "--numprocesses=auto", *only)
    passed: set[str] = set()
    failed: set[str] = set()
    found: list[set[str]] = [set() for _ in sample]
    for file in folder.glob("mutant_calls.py.*"):
        for line in file.read_text().splitlines():
            number, _, test = line.partition("\t")
            where = {"+": passed, "-": failed}.get(number)
            (found[int(number)] if where is None else where).add(test)
    passed -= failed
    return [
        in_turn(passed & tests or (of_module(fault, passed, folder) if tests else []))
        for fault, tests in zip(sample, found, strict=True)
    ]


def of_module(fault: Fault, tests: Iterable[str], folder: Path) -> list[str]:
    """For a function that is called as its module is imported: the tests in files that name this module."""
    above, _, name = fault.path.removesuffix(".py").replace("/", ".").rpartition(".")
    words = (f"{above}.{name} ", f"from {above} import {name}")
    files = {test.partition("::")[0] for test in tests}
    naming = {each for each in files if any(word in (folder / each).read_text() for word in words)}
    return [test for test in tests if test.partition("::")[0] in naming]


def in_turn(tests: Iterable[str]) -> list[str]:
    """One of each file, then the next one of each."""
    by_file: dict[str, list[str]] = {}
    for test in sorted(tests):
        by_file.setdefault(test.partition("::")[0], []).append(test)
    return [test for test in chain.from_iterable(zip_longest(*by_file.values())) if test]


def end(fault: Fault, tests: Sequence[str], folder: Path) -> str:
    """What becomes of a fault in the copy, as it is printed."""
    file = folder / fault.path
    data = file.read_bytes()
    write(file, data[: fault.start] + fault.after.encode() + data[fault.end :])
    try:
        if not all(passes(part, folder) for part in (tests[:FEW], [EVERYTHING], tests[FEW:])):
            return BY_TESTS
        if not is_typed(folder):
            return BY_TYPES
        return SURVIVED
    finally:
        write(file, data)


def is_typed(folder: Path) -> bool:
    """Whether the types of a copy fit."""
    checked = subprocess.run(
        [sys.executable, "-m", "mypy"], cwd=folder, capture_output=True, check=False
    )
    return checked.returncode == 0


def write(file: Path, data: bytes) -> None:
    """Write a module. Its bytecode goes: it would be taken for current where size and second are the same."""
    file.write_bytes(data)
    Path(cache_from_source(str(file))).unlink(missing_ok=True)


def passes(tests: Sequence[str], folder: Path, *options: str) -> bool:
    """Whether tests pass, if there are any."""
    if not tests:
        return True
    names = folder / "tests.txt"
    names.write_text("\n".join(tests))
    return pytest(folder, "-x", *options, f"@{names}", patience=PATIENCE) == 0


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=20261125)
    parser.add_argument("--slow", action="store_true")
    options = parser.parse_args()
    sample = chosen(options.count, options.seed)
    with TemporaryDirectory(prefix="mutants-") as temporary:
        folder = Path(temporary)
        tests = callers(sample, copied(folder / "calls"), slow=options.slow)
        copies: SimpleQueue[Path] = SimpleQueue()
        workers = os.cpu_count() or 1
        for number in range(workers):
            copies.put(copied(folder / str(number)))
        asked = sorted({EVERYTHING, *chain.from_iterable(tests)})
        if not passes(asked, folder / "0", "--collect-only"):
            sys.exit("some of the tests are not found by their names")
        if not is_typed(folder / "0"):
            sys.exit("the types do not fit without a fault, either: run `make type`")

        def judged(number: int) -> str:
            own = copies.get()
            try:
                came = end(sample[number], tests[number], own)
            finally:
                copies.put(own)
            print(f"{came} ({len(tests[number])} tests): {sample[number]}", flush=True)
            return came

        with ThreadPoolExecutor(workers) as pool:
            ends = list(pool.map(judged, range(len(sample))))
    print("\nsurvivors:")
    for fault, came in zip(sample, ends, strict=True):
        if came == SURVIVED:
            print(f"  {fault}")
    killed = len(sample) - ends.count(SURVIVED)
    print(f"{killed} of {len(sample)} killed, {ends.count(BY_TYPES)} of them by types")


if __name__ == "__main__":
    main()
