"""Runs of ``trainyard`` as forks of a process that has loaded the compiler: to load it takes longer than most runs.

A run has a folder, an environment, streams and an end of its own, as any process. What it does not have is a start of
its own, and a cdk8s of its own (``one_cdk8s.py``): what is about those uses ``running.spawn``. Runs go one after the
other, so none may wait for what another prints.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import io
import json
import os
import select
import socket
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

import forked
from one_cdk8s import OneCdk8s
from running import SPECS, Run, environment
from trainyard.cli.main import main

WORKING = frozenset({"trainyard.run.driver", "trainyard.extensions.lint.linter"})
"""What a run loads that goes through the passes: each loads these anew."""


class Forks:
    """The process that is forked, and the folder in which runs leave what they say. ``package``: the folder of another
    compiler than this one."""

    def __init__(self, package: Path | None = None) -> None:
        places = sys.path
        if package is not None:
            places = [str(package), *places]
        self._folder = TemporaryDirectory(prefix="forks-")
        self._door = self._place("door")
        self._process = subprocess.Popen(
            [sys.executable, __file__, self._door],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment(PYTHONPATH=os.pathsep.join(places)),
        )
        atexit.register(self.end)
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "ready\n"

    def _place(self, name: str) -> str:
        return os.path.join(self._folder.name, name)

    def ask(
        self, words: Sequence[object], cwd: Path, env: dict[str, str], streams: Sequence[int]
    ) -> int:
        """The exit code of a run with these three streams."""
        return forked.ask(self._door, [str(each) for each in words], str(cwd), env, streams)

    def run(self, words: Sequence[object], cwd: Path, env: dict[str, str]) -> tuple[Run, bool]:
        """What a run said; and whether it went through the passes."""
        out, err, loaded = map(self._place, ("out", "err", "loaded"))
        given = [str(each) for each in words]
        with open(os.devnull) as nothing, open(out, "wb") as stdout, open(err, "wb") as stderr:
            streams = (nothing.fileno(), stdout.fileno(), stderr.fileno())
            code = forked.ask(self._door, given, str(cwd), env, streams, loaded)
        modules = Path(loaded).read_text().split("\n")
        said = (Path(place).read_bytes().decode() for place in (out, err))
        return Run(code, *said), not WORKING.isdisjoint(modules)

    def program(self) -> str:
        """The text of a program ``trainyard`` whose runs are forks."""
        return f'#!/bin/sh\nexec "{sys.executable}" -S -I "{forked.__file__}" "{self._door}" "$@"\n'

    def end(self) -> None:
        self._process.communicate()
        self._folder.cleanup()


@cache
def forks() -> Forks:
    """That of this process."""
    return Forks()


def serve(door: str) -> None:
    """Do here what most runs do, so that what a process keeps is there; then fork for each that is asked for, until
    the input ends."""
    _load()
    with socket.socket(socket.AF_UNIX) as asked:
        asked.bind(door)
        asked.listen()
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        while asked in select.select([asked, sys.stdin], [], [])[0]:
            caller, _ = asked.accept()
            with caller:
                _serve(caller)
    OneCdk8s.end()


def _load() -> None:
    said = io.StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        assert main(["check", str(SPECS)]) == 0, said.getvalue()
    for name in WORKING:
        importlib.import_module(name)
        del sys.modules[name]
    gc.collect()
    gc.freeze()  # what the collector does not touch, forks share


def _serve(caller: socket.socket) -> None:
    """The one run that a caller asks for."""
    _, streams, _, _ = socket.recv_fds(caller, 1, 3)
    with caller.makefile() as text:
        request = json.loads(text.read())
    if request["words"][:1] == ["compile"]:
        OneCdk8s.running()
    code = _forked(request, streams)
    for stream in streams:
        os.close(stream)
    caller.sendall(f"{code}".encode())


def _forked(request: dict[str, Any], streams: Sequence[int]) -> int:
    child = os.fork()
    if child == 0:
        _run(request, streams)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        OneCdk8s.end()  # what was asked of it may not have been read
    return code


def _run(request: dict[str, Any], streams: Sequence[int]) -> NoReturn:
    """Be the process that was asked for."""
    leave = os._exit

    def told(code: int) -> NoReturn:
        if request["loaded"]:
            Path(request["loaded"]).write_text("\n".join(sys.modules))
        leave(code)

    try:
        os.environ.clear()
        os.environ.update(request["env"])
        time.tzset()
        os.chdir(request["cwd"])
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        sys.stdin = open(0, encoding="utf-8")  # noqa: SIM115 - until the end
        sys.stdout = open(1, "w", encoding="utf-8")  # noqa: SIM115
        sys.stderr = open(2, "w", encoding="utf-8")  # noqa: SIM115
        sys.argv = ["trainyard", *request["words"]]
        os._exit = told  # type: ignore[assignment]
        from trainyard.cli.entry import entry
        from trainyard.output import synthesis

        OneCdk8s.inherit()
        synthesis.Synthesis = OneCdk8s  # type: ignore[misc]
        entry()
    except BaseException:
        traceback.print_exc()
    finally:
        leave(1)


if __name__ == "__main__":
    serve(sys.argv[1])
