"""Every pipe and every download of the scripts that we write: a failure at its beginning is not success at its end.

Without ``pipefail`` the status of a pipe is that of its last command. With it, a reader that does not read all ends the
writer by SIGPIPE, which is then the status of the pipe.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from builders import ROOT

COMPILER = ROOT / "compiler" / "trainyard"
SOURCES = sorted(
    path
    for path in COMPILER.rglob("*")
    if path.suffix in (".j2", ".py") and not path.name.endswith(".md.j2")
)
WRITTEN = sorted(
    path for path in (ROOT / "generated").rglob("*") if path.suffix in (".sh", ".sbatch")
)
_PIPED = re.compile(r"(?<!\|)\|(?!\|) *\\?$|(?<!\|)\|(?!\|) +[a-z]")
_READS_NOT_ALL = re.compile(
    r"(?<!\|)\|(?!\|) *(head\b|grep (-[a-zA-Z]*[qm]|--quiet|--max-count)|read\b)"
)
_RUNS = re.compile(r"(?<!\|)\|(?!\|) *(sudo [^|]*)?\b(bash|sh|python3?)\b(?! -c)")
_CURL = re.compile(r"(?:^|[\s(])curl +-")
TEXT_ALONE = {
    # the files are looked for, and one is enough: of the pipe only what it prints is asked
    "core/jobs/stopping.py"
}


def lines(path: Path) -> Iterator[str]:
    """The lines of a file, without what is about it."""
    for line in path.read_text().splitlines():
        if not line.lstrip().startswith(("#", '"""', "{#")):
            yield line


def faults(path: Path) -> Iterator[str]:
    """Lines whose pipe is left early or runs what it reads, and downloads that do not fail."""
    name = str(path.relative_to(COMPILER))
    for line in lines(path):
        is_prose = name in TEXT_ALONE or "``" in line or "`|" in line
        if (
            (_READS_NOT_ALL.search(line) and not is_prose)
            or re.search(r"\bbash -s\b", line)
            or (path.suffix == ".j2" and _RUNS.search(line))
            or (_CURL.search(line) and "--fail" not in line)
        ):
            yield f"{name}: {line}"


def test_no_pipe_is_left_early_or_runs_what_it_reads() -> None:
    assert [line for path in SOURCES for line in faults(path)] == []


def test_a_script_with_a_pipe_sets_pipefail() -> None:
    assert len(WRITTEN) > 30
    for path in WRITTEN:
        text = list(lines(path))
        first = next((at for at, line in enumerate(text) if _PIPED.search(line)), None)
        if first is not None:
            assert any(re.match(r"set -e?uo pipefail$", line) for line in text[:first]), path
