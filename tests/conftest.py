"""The command as a fixture."""

from __future__ import annotations

from pathlib import Path

import pytest
from running import Command, Run


@pytest.fixture
def trainyard(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run ``trainyard`` in this process, in a folder."""

    def run(*arguments: object, cwd: Path | None = None) -> Run:
        from compiler.cli import main

        if cwd is not None:
            monkeypatch.chdir(cwd)
        capsys.readouterr()
        code = main([str(each) for each in arguments])
        return Run(code, *capsys.readouterr())

    return run
