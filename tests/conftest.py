"""The command as a fixture; and the same generated examples in every run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings
from running import CACHE_VARIABLE, NO_CACHE, Command, Run

# A run on main must not fail by a new example: `make test ARGS=--hypothesis-profile=default` looks for those.
settings.register_profile("fixed", derandomize=True)
settings.load_profile("fixed")
os.environ[CACHE_VARIABLE] = NO_CACHE  # of the processes that tests start


@pytest.fixture
def trainyard(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run ``trainyard`` in this process, in a folder."""

    def run(*arguments: object, cwd: Path | None = None) -> Run:
        from compiler.cli.main import main

        if cwd is not None:
            monkeypatch.chdir(cwd)
        capsys.readouterr()
        code = main([str(each) for each in arguments])
        return Run(code, *capsys.readouterr())

    return run
