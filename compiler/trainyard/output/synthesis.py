"""Runs cdk8s in a process of its own while the passes run, and compares its objects with ours.

Importing cdk8s starts Node and takes as long as all passes together, so a cold run starts it first. Nothing of cdk8s
is ever loaded here (``output/lowering/chart.py`` is the program that knows it).
"""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType

    from trainyard.output.manifest import Manifest

_PROGRAM = Path(__file__).parent / "lowering" / "chart.py"
_FORMAT = "kubernetes"
"""What cdk8s makes; a ClusterConfig is an object too, and no cluster has it."""
_CHUNK = 4_000_000
"""Characters a file: cdk8s' loader reads at most 10 MiB (cdk8s-core v2.70.115 yaml.ts MAX_DOWNLOAD_BUFFER)."""


class Synthesis:
    """A process with cdk8s, started when first needed and gone with the ``with`` statement.

    ``folder`` is where it finds its input, while it runs.
    """

    def __init__(self) -> None:
        self.folder = ""
        self._process: subprocess.Popen[str] | None = None
        self._asked: list[Sequence[Manifest]] = []
        self._files = 0
        self._digests: set[bytes] = set()
        self._late = False

    def __enter__(self) -> Synthesis:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._process is None:
            return
        import shutil

        self._kill()
        self._process.communicate()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _kill(self) -> None:
        """End the process and the Node that it started: one that hangs would not notice that its input has ended."""
        assert self._process is not None
        if hasattr(os, "killpg"):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()

    @property
    def started(self) -> bool:
        """Whether the process runs."""
        return self._process is not None

    @property
    def busy(self) -> bool:
        """Whether it has objects that nobody has asked for yet."""
        return bool(self._asked)

    def start(self) -> subprocess.Popen[str]:
        """Start the process, unless it runs. If this one is killed, that one ends by itself and cleans up."""
        if self._process is None:
            self.folder = tempfile.mkdtemp(prefix="trainyard-")
            with open(self._stderr, "wb") as stderr:
                # -P: the program's folder has modules named like those of the standard library.
                self._process = subprocess.Popen(  # noqa: S603 - our own program
                    [sys.executable, "-P", str(_PROGRAM), self.folder],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=stderr,
                    text=True,
                    start_new_session=True,
                )
        return self._process

    @property
    def _stderr(self) -> str:
        return os.path.join(self.folder, "stderr")

    def take(self, manifests: Sequence[Manifest]) -> None:
        """Have objects made, without waiting for it. Equal objects are made once: clusters of a fleet share most of
        theirs."""
        process = self.start()
        assert process.stdin is not None
        for chunk, text in _chunks(self._new(manifests)):
            name = f"{self._files}.yaml"
            path = os.path.join(self.folder, name)
            self._files += 1
            _write(path, text)
            # A process that has ended is reported when its answer is missed.
            with suppress(BrokenPipeError):
                print(path, file=process.stdin, flush=True)
            self._asked.append(chunk)

    def _new(self, manifests: Iterable[Manifest]) -> Iterator[tuple[Manifest, str]]:
        """Each object of Kubernetes that was not taken before, with its JSON."""
        for manifest in manifests:
            if manifest.format != _FORMAT:
                continue
            text = json.dumps(manifest.body)
            digest = blake2b(text.encode(), digest_size=16).digest()
            if digest in self._digests:
                continue
            self._digests.add(digest)
            yield manifest, text

    def differing(self) -> list[Manifest]:
        """The objects that cdk8s made otherwise. Waits for it."""
        differing: list[Manifest] = []
        asked, self._asked = self._asked, []
        for chunk in asked:
            assert self._process is not None
            assert self._process.stdout is not None
            answer = self._answer(self._process.stdout)
            if not answer:
                raise self._failure()
            numbers = json.loads(answer)
            differing += [chunk[number] for number in numbers]
        return differing

    def _answer(self, output: IO[str]) -> str:
        """The next line; empty where there is none. A Node without memory may hang instead of ending."""
        timer = threading.Timer(PATIENCE, self._give_up)
        timer.daemon = True
        timer.start()
        try:
            return output.readline()
        finally:
            timer.cancel()

    def _give_up(self) -> None:
        self._late = True
        self._kill()

    def _failure(self) -> Exception:
        """Why there is no answer: something that the machine lacks, which is no fault of ours, or anything else."""
        assert self._process is not None
        if self._late:
            message = f"cdk8s did not answer within {PATIENCE:g} seconds; {_ENOUGH}"
            return OSError(errno.EIO, message)
        text = Path(self._stderr).read_text(encoding="utf-8", errors="replace")
        for pattern, lack in _LACKS:
            if re.search(pattern, text):
                return OSError(errno.EIO, f"cdk8s has failed: {lack}")
        with suppress(subprocess.TimeoutExpired):
            code = self._process.wait(timeout=_ENDING)
            if code < 0:
                message = f"cdk8s was killed (signal {-code}); {_ENOUGH}"
                return OSError(errno.EIO, message)
        lines = text.strip().split("\n")
        return RuntimeError(f"cdk8s has failed: {lines[-1].strip() or 'it says nothing'}")


PATIENCE = 300.0
"""Seconds to wait for an answer: a file of objects takes four on a slow machine, and Node as long to start."""
_ENOUGH = "are there enough memory and open files (`ulimit -v`, `ulimit -n`)?"
_ENDING = 5.0
"""Seconds in which a process whose output has ended should have ended too."""
# What Python 3.11, Node 24 and V8 say where the machine refuses them something, and what it lacks.
_LACKS = (
    (
        "[Tt]oo many open files|EMFILE|ENFILE|uv_loop_init",
        "too many open files; `ulimit -n 256` is enough",
    ),
    (
        "MemoryError|out of memory|[Cc]annot allocate memory|ENOMEM|bad_alloc|heap limit",
        "not enough memory; it takes about 1 GiB of address space",
    ),
    ("[Nn]o space left|ENOSPC", "no space left in the folder for temporary files"),
    (
        "Resource temporarily unavailable|can't start new thread|EAGAIN",
        "too many processes (`ulimit -u`)",
    ),
    (
        r"_next_message[\s\S]*JSONDecodeError|jsii[\s\S]*BrokenPipeError",
        f"Node has ended by itself; {_ENOUGH}",
    ),
)


def _write(path: str, text: str) -> None:
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as fault:  # of a full disk alone nobody would know which
        raise OSError(fault.errno, fault.strerror, path) from None


def _chunks(objects: Iterable[tuple[Manifest, str]]) -> Iterator[tuple[list[Manifest], str]]:
    """Objects in files of bearable size: JSON documents, which every YAML reader takes as they are."""
    chunk: list[Manifest] = []
    parts: list[str] = []
    size = 0
    for manifest, body in objects:
        text = f"---\n{body}\n"
        if parts and size + len(text) > _CHUNK:
            yield chunk, "".join(parts)
            chunk, parts, size = [], [], 0
        chunk.append(manifest)
        parts.append(text)
        size += len(text)
    if parts:
        yield chunk, "".join(parts)
