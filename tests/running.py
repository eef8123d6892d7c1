"""What tests of the command line share: running it, looking at folders, reading marks in test files."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "tests" / "example"
"""A repository with the specs that come with Trainyard. Its specs are copies, which `make docs` renews: a team puts its
own into ``specs/``, and no test changes."""
SPECS = EXAMPLE / "specs"
CACHE_VARIABLE = "TRAINYARD_CACHE_DIR"
NO_CACHE = os.devnull
"""No folder, so nothing is kept there: each test runs what it tests, and leaves the user's cache alone."""
MARK = re.compile(r"# error: ([A-Z]{2,4}\d{3}(?:, [A-Z]{2,4}\d{3})*)")
"""A comment on the line where a code must be reported; several codes are separated by commas."""


@dataclass(frozen=True)
class Run:
    """What a command answered."""

    code: int
    out: str
    err: str


Command = Callable[..., Run]


def spawn(*arguments: object, cwd: Path = EXAMPLE, **env: str) -> Run:
    """Run ``trainyard`` as a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "trainyard", *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        encoding="utf-8",
        env=environment(**env),
        timeout=300,
    )
    return Run(done.returncode, done.stdout, done.stderr)


def stand_ins(folder: Path, texts: Mapping[str, str]) -> str:
    """Programs of a folder that stand for others, by name; the ``PATH`` that finds them first."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        program = folder / name
        program.write_text(text, encoding="utf-8")
        program.chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def environment(**more: str) -> dict[str, str]:
    """The environment of a child that finds this very compiler, and no settings of the caller."""
    settings = ("NO_COLOR", "LC_", "LANG", "PYTHON")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(settings)}
    ours = {
        "PYTHONPATH": str(ROOT / "compiler"),
        "PYTHONIOENCODING": "utf-8",
        CACHE_VARIABLE: NO_CACHE,
    }
    return {**kept, **ours, **more}


def without_hashes(text: str) -> str:
    """A text without the hashes in the names of jobs' objects, which change with what a job is rendered to."""
    return re.sub(r"-[0-9a-f]{5}(?![0-9a-z])", "-HASH", text)


def snapshot(folder: Path) -> dict[str, tuple[int, str]]:
    """Every file below: when it was changed, and the digest of its content."""
    return {
        path.relative_to(folder).as_posix(): (
            path.stat().st_mtime_ns,
            sha256(path.read_bytes()).hexdigest(),
        )
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def copied(folder: Path, target: Path) -> Path:
    """A copy of a folder with the times of its files, by ``cp``: ``shutil`` goes through Python for each file."""
    target.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cp", "-Rp", f"{folder}/.", target], check=True)
    return target


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below, by path."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def marks(path: Path) -> list[tuple[str, int, str]]:
    """The codes that a file says must be reported, each with file name and line."""
    return sorted(
        (path.name, number, code)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        for found in MARK.finditer(line)
        for code in found[1].split(", ")
    )
