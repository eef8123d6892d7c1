"""What the commands of Markdown files print, run anew.

Blocks fenced as ``console`` show each ``$ command`` with what it prints. For people who paste blocks into a shell,
a block fenced as ``sh`` stands without prompts, and the one fenced as ``text`` right behind it is what it prints. The
commands of a file run in order, in a fresh folder with a copy of the example specs and what they compile to, as a fresh
clone has them, by bash, with ``trainyard`` on the path; those of ``sh`` blocks in one shell. Output and errors stand
as a terminal shows them. A block of ``sh`` without output is not run: it needs AWS, or is a recipe.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "tests" / "example"
FILES = (
    "README.md",
    "docs/failures.md",
    "docs/policies.md",
    "docs/report.md",
    "docs/simulate.md",
    "docs/tutorial.md",
)
_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PASTED = re.compile(
    r"^```sh\n((?:(?!```)[^\n]*\n)*)```\n\n```text\n((?:(?!```)[^\n]*\n)*)```$", re.MULTILINE
)
"""A block to be pasted, and what it prints."""
_END = "=== end of what a block prints ==="


def refreshed(text: str, folder: Path) -> str:
    """A Markdown text with all that is printed as it would come out now; commands run in ``folder``, which ``prepare``
    made."""
    text = _BLOCK.sub(lambda match: f"```console\n{_session(match[1], folder)}```", text)
    printed = iter(pasted([match[1] for match in PASTED.finditer(text)], folder))
    return PASTED.sub(lambda match: f"```sh\n{match[1]}```\n\n```text\n{next(printed)}```", text)


def prepare(folder: Path) -> None:
    """Make an empty folder what a fresh clone is: specs and what they compile to; and ``trainyard``, in ``bin``."""
    shutil.copytree(EXAMPLE / "specs", folder / "specs")
    (folder / "bin").mkdir()
    command = folder / "bin" / "trainyard"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m trainyard "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    _output("trainyard compile specs", folder)


def pasted(blocks: Sequence[str], folder: Path) -> list[str]:
    """What each of several blocks prints that are pasted into one shell, one after the other."""
    script = "".join(f"{block}\necho '{_END}'\n" for block in blocks)
    parts = _output(script, folder).split(f"{_END}\n")
    return parts[: len(blocks)]


def _session(block: str, folder: Path) -> str:
    session = ""
    for lines in _commands(block):
        command = "\n".join(line[2:] for line in lines)
        session += "\n".join(lines) + "\n" + _output(command, folder)
    return session


def _commands(block: str) -> list[list[str]]:
    """The lines of each command: `$` begins one, and `>` goes on with it, as a shell shows them."""
    commands: list[list[str]] = []
    goes_on = False
    for line in block.splitlines():
        if line.startswith("$ "):
            commands.append([line])
        elif goes_on and line.startswith("> "):
            commands[-1].append(line)
        goes_on = line.startswith("$ ") or (goes_on and line.startswith("> "))
    return commands


def _output(command: str, folder: Path) -> str:
    env = {
        "PATH": f"{folder}/bin:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "compiler"),
        "LC_ALL": "C.UTF-8",
        "HOME": str(folder),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "TRAINYARD_CACHE_DIR": os.devnull,
    }
    done = subprocess.run(  # noqa: S603  # the commands stand in our own documentation
        ["/usr/bin/env", "bash", "-c", command],
        cwd=folder,
        env=env,
        stdout=subprocess.PIPE,
        check=False,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=120,
    )
    return done.stdout
