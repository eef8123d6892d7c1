"""Console blocks of Markdown files, run anew: each ``$ command`` is followed by what it really prints.

Blocks are fenced as ``console``. The commands of a file run in order, in a fresh folder with a copy of
the example specs, by bash, with ``trainyard`` on the path; output and errors stand as a terminal shows them.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "tests" / "example"
FILES = ("README.md", "docs/policies.md", "docs/tutorial.md")
_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def refreshed(text: str, folder: Path) -> str:
    """A Markdown text with every console block as it would come out now; commands run in ``folder``, an empty one."""
    shutil.copytree(EXAMPLE / "specs", folder / "specs")
    (folder / "bin").mkdir()
    command = folder / "bin" / "trainyard"
    command.write_text(
        f'#!/bin/sh\nexec "{sys.executable}" -m compiler "$@"\n', encoding="utf-8"
    )
    command.chmod(0o755)
    return _BLOCK.sub(
        lambda match: f"```console\n{_session(match[1], folder)}```", text
    )


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
        "PYTHONPATH": str(ROOT),
        "LC_ALL": "C.UTF-8",
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
