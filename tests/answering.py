"""Scripts among stand-ins for programs: what they call is asked of an object of the tests.

The object answers a call, or refuses it. It kills who asks, when a test wants it to: just after a change.
"""

from __future__ import annotations

import os
import re
import signal
import socketserver
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from served import served

PROGRAMS = ("aws", "eksctl", "kubectl", "flux", "terraform", "pcluster")
STAND_INS = r"""
ask_the_world() {
  local socket answer
  exec {socket}<>"/dev/tcp/127.0.0.1/$WORLD_PORT"
  { printf '%s\0' "$@"
    case "$*" in *=- | *=-\ * | *"-f -"*) printf 'STDIN\0'; cat ;; esac
    printf '\0END\0'; } >&"$socket"
  read -r -N 10000000 answer <&"$socket" || true
  exec {socket}>&-
  [ "${answer%%$'\n'*}" != 0 ] || { printf %s "${answer#*$'\n'}"; return 0; }
  printf %s "${answer#*$'\n'}" >&2
  return "${answer%%$'\n'*}"
}
curl() { echo 198.51.100.7; }
""" + "\n".join(
    # pcluster says on its standard output why it fails (aws-parallelcluster 3.16.1, cli/entrypoint.py).
    f'{name}() {{ ask_the_world {name} "$@"{" 2>&1" if name == "pcluster" else ""}; }}'
    for name in PROGRAMS
)
"""Functions, which every bash below reads (``BASH_ENV``): a process for each call would take most of the time."""
PROGRAM = """#!/bin/bash
"${0##*/}" "$@"
"""
"""The same for those who look for a program on the PATH."""
READS = re.compile(
    r"aws \S+ (describe|get|list|head|batch-get|wait)|aws s3 ls|aws eks update-kubeconfig|"
    r"pcluster (version|describe)|kubectl (get|config|api-resources|label|logs|wait)|"
    r"terraform \S+ (output|init|state list)"
)


class RefusedError(Exception):
    """What a program answers with an error."""


class Answering:
    """What answers the calls of a script. ``root``: a folder, beside which the stand-ins are put."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.calls: list[list[str]] = []
        self.faults: list[str] = []
        """Calls that are not known: gaps of the tests."""
        self.deny: str | None = None
        """Calls that are refused, as a regular expression: who calls lacks the right."""
        self.kill: Callable[[list[str]], bool] = lambda call: False
        self.group: int | None = None

    def answer(self, call: list[str], stdin: str) -> str:
        """What the program prints; ``RefusedError`` where it ends with an error."""
        raise NotImplementedError


@contextmanager
def serving(world: Answering) -> Iterator[int]:
    """The port at which it answers."""

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            data = b""
            while not data.endswith(b"\0END\0"):
                more = self.request.recv(65536)
                if not more:
                    return
                data += more
            words, _, stdin = data[:-5].decode().partition("STDIN\0")
            call = words.rstrip("\0").split("\0")
            try:
                if world.deny and re.search(world.deny, " ".join(call)):
                    raise RefusedError(f"An error occurred (AccessDenied): {call[0]} may not")
                answer, code = world.answer(call, stdin.rstrip("\0")), 0
            except RefusedError as why:
                answer, code = f"{call[0]}: {why}\n", 254
            except Exception as fault:  # a gap of the world fails the run loudly
                answer, code = f"WORLD: {fault!r}\n", 99
                world.faults.append(repr(fault))
            changes = not READS.match(" ".join(call))
            if changes and world.group is not None and world.kill(call):
                os.killpg(world.group, signal.SIGKILL)
                return
            self.wfile.write(f"{code}\n{answer}".encode())

    class Server(socketserver.ThreadingTCPServer):
        allow_reuse_address = daemon_threads = True
        request_queue_size = 64

    server = Server(("127.0.0.1", 0), Handler)
    with served(server):
        yield server.server_address[1]


def run(
    world: Answering, port: int, script: Path, *words: str, **env: str
) -> subprocess.CompletedProcess[str]:
    """Run a script among the stand-ins, in a process group of its own."""
    programs = world.root.parent / "bin"
    programs.mkdir(exist_ok=True)
    stand_ins = programs / "stand-ins.bash"
    if not stand_ins.exists():
        stand_ins.write_text(STAND_INS)
        for name in (*PROGRAMS, "curl"):
            (programs / name).write_text(PROGRAM)
            (programs / name).chmod(0o755)
    process = subprocess.Popen(
        ["bash", str(script), *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        cwd=world.root.parent,
        env={
            "PATH": f"{programs}:{os.environ['PATH']}",
            "HOME": str(world.root.parent),
            "BASH_ENV": str(stand_ins),
            "WORLD_PORT": str(port),
            "POLL_SECONDS": "0",
            **env,
        },
    )
    world.group = process.pid
    out, err = process.communicate(timeout=60)
    return subprocess.CompletedProcess(words, process.returncode, out, err)
