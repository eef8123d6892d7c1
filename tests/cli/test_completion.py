"""Completion scripts: what a shell reads, it accepts, and what it offers, the command takes."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from running import Command

from compiler.cli.arguments import SHELLS, parser
from compiler.cli.completion import script


@pytest.mark.parametrize("shell", SHELLS)
def test_the_shell_parses_its_script(shell: str, trainyard: Command) -> None:
    done = trainyard("completion", shell)
    assert done.code == 0
    for word in ("compile", "check", "lint", "explain", "schema", "catalog", "completion", "fail-on"):
        assert word in done.out
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} on this machine")
    subprocess.run([shell, "-n"], input=done.out, encoding="utf-8", check=True)


def _offered(line: str) -> set[str]:
    """What bash offers at the end of a line."""
    words = line.split(" ")
    program = (
        f"{script('bash', parser())}\nCOMP_WORDS=({' '.join(repr(word) for word in words)})\n"
        f"COMP_CWORD={len(words) - 1}\n_trainyard\nprintf '%s\\n' \"${{COMPREPLY[@]}}\""
    )
    done = subprocess.run(["bash", "-c", program], capture_output=True, encoding="utf-8", check=True, cwd="/")
    return set(done.stdout.split())


def test_bash_offers_commands_options_and_choices() -> None:
    assert _offered("trainyard c") == {"compile", "check", "catalog", "completion"}
    assert {"--format", "--fail-on", "--no-color"} <= _offered("trainyard check --")
    assert "--check" not in _offered("trainyard lint --")
    assert _offered("trainyard completion z") == {"zsh"}
    assert "--replace" in _offered("trainyard compile specs --re")
