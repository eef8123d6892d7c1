"""One process with cdk8s for all compilations of the tests that run in one process: to start one takes longer than
most of them. It is asked once for each object: of those that cdk8s made as we did, nobody asks again. That a process
starts and ends with a run is tested by ``test_synthesis.py``, and by the tests that run ``trainyard`` as a process of
its own.
"""

from __future__ import annotations

import os
from subprocess import Popen
from types import TracebackType
from typing import ClassVar

from trainyard.output.manifest import Manifest
from trainyard.output.synthesis import Synthesis

# A test may patch those of the class.
_start, _end, _differing = Synthesis.start, Synthesis.__exit__, Synthesis.differing


class OneCdk8s(Synthesis):
    """Asks the process that others asked before."""

    _kept: ClassVar[Synthesis | None] = None
    _keeper: ClassVar[int] = 0
    _inherited: ClassVar[bool] = False
    _equal: ClassVar[set[bytes]] = set()
    """The digests of the objects that cdk8s made as we did."""

    def __init__(self) -> None:
        super().__init__()
        self._digests = set(self._equal)

    def start(self) -> Popen[str]:
        if self._process is None:
            kept = self.running()
            self._process, self.folder = _start(kept), kept.folder
        return self._process

    def differing(self) -> list[Manifest]:
        """The objects that cdk8s made otherwise; where there are none, all that was asked is equal."""
        found = _differing(self)
        if not found:
            self._equal.update(self._digests)
        return found

    @classmethod
    def running(cls) -> Synthesis:
        """What is kept. One that has ended is replaced; one of the process that this was forked from is not ours,
        unless it is inherited."""
        if cls._keeper != os.getpid():
            cls._kept = None
        if cls._kept is not None and not cls._inherited and _start(cls._kept).poll() is not None:
            cls.end()
        if cls._kept is None:
            cls._kept, cls._keeper, cls._inherited = Synthesis(), os.getpid(), False
            _start(cls._kept)
        return cls._kept

    @classmethod
    def inherit(cls) -> None:
        """Ask what the process keeps that this was forked from, which waits meanwhile."""
        cls._keeper, cls._inherited = os.getpid(), True

    @classmethod
    def end(cls) -> None:
        """End the process."""
        if cls._kept is not None and cls._keeper == os.getpid():
            _end(cls._kept, None, None, None)
        cls._kept = None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Read the answers that nobody asked for: the next run must not take them for its own."""
        try:
            _differing(self)
        except (OSError, RuntimeError):
            self.end()
