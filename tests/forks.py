"""Runs of ``trainyard`` as forks of a process that has loaded the compiler: to load it takes longer than most runs.

A run has a folder, an environment, streams and an end of its own, as any process. What it does not have is a start of
its own: what is about that uses ``running.spawn``.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import io
import json
import os
import subprocess
import sys
import time
import traceback
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

from running import SPECS, Run, environment

from compiler.cli.main import main

WORKING = frozenset({"compiler.driver", "compiler.linter"})
"""What a run loads that goes through the passes: each loads these anew."""


class Forks:
    """The process that is forked, and the folder in which runs leave what they say."""

    def __init__(self) -> None:
        self._folder = TemporaryDirectory(prefix="forks-")
        self._process = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment(PYTHONPATH=os.pathsep.join(sys.path)),
        )
        atexit.register(self.end)

    def run(self, words: Sequence[object], cwd: Path, env: dict[str, str]) -> tuple[Run, bool]:
        """What a run said; and whether it went through the passes."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        places = {name: os.path.join(self._folder.name, name) for name in ("out", "err", "loaded")}
        request = {"words": [str(each) for each in words], "cwd": str(cwd), "env": env, **places}
        print(json.dumps(request), file=self._process.stdin, flush=True)
        code = int(self._process.stdout.readline())
        out, err, loaded = (Path(place).read_bytes().decode() for place in places.values())
        return Run(code, out, err), not WORKING.isdisjoint(loaded.split("\n"))

    def end(self) -> None:
        self._process.communicate()
        self._folder.cleanup()


@cache
def forks() -> Forks:
    """That of this process."""
    return Forks()


def serve() -> None:
    """Do here what most runs do, so that what a process keeps is there; then fork for each run that is asked for."""
    said = io.StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        assert main(["check", str(SPECS)]) == 0, said.getvalue()
    for name in WORKING:
        importlib.import_module(name)
        del sys.modules[name]
    gc.collect()
    gc.freeze()  # what the collector does not touch, forks share
    for line in sys.stdin:
        sys.stdout.write(f"{_forked(json.loads(line))}\n")
        sys.stdout.flush()


def _forked(request: dict[str, Any]) -> int:
    child = os.fork()
    if child == 0:
        _run(request)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def _run(request: dict[str, Any]) -> NoReturn:
    """Be the process that was asked for."""
    leave = os._exit

    def told(code: int) -> NoReturn:
        Path(request["loaded"]).write_text("\n".join(sys.modules))
        leave(code)

    try:
        os.environ.clear()
        os.environ.update(request["env"])
        time.tzset()
        os.chdir(request["cwd"])
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for number, name in ((1, "out"), (2, "err")):
            place = os.open(request[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(place, number)
            os.close(place)
        sys.stdout = open(1, "w", encoding="utf-8")  # noqa: SIM115 - until the end
        sys.stderr = open(2, "w", encoding="utf-8")  # noqa: SIM115
        sys.argv = ["trainyard", *request["words"]]
        os._exit = told  # type: ignore[assignment]
        from compiler.cli.entry import entry

        entry()
    except BaseException:
        traceback.print_exc()
    finally:
        leave(1)


if __name__ == "__main__":
    serve()
