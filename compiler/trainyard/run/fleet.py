"""Compiles many specs at once, shared among all cores.

A worker is a copy of this process (fork), and hands back no more than a short verdict on each spec. Whatever it has no
verdict on (there is something to report or to write, or the worker died) is done here, as if there were no workers.
"""

from __future__ import annotations

import marshal
import os
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

T = TypeVar("T")
Verdicts = dict[int, Any]
"""By the index of what needs nothing more."""

_FEWEST = 8  # specs that are worth a worker


def cores() -> int:
    """The processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def spread(
    count: int, do: Callable[[int], T], verdict: Callable[[T], Any], *, workers: int | None = None
) -> tuple[dict[int, T], Verdicts]:
    """``do`` for every index below ``count``; what was done here, and the verdicts of those that need nothing more.

    ``verdict`` gives a value that ``marshal`` takes, or ``None`` where something is left to do. Every index is in
    what was done, or has a verdict, or both.
    """
    ways = 1
    if hasattr(os, "fork"):
        useful = count // _FEWEST
        ways = max(1, min(workers or cores(), useful))
    shares = [range(first, count, ways) for first in range(ways)]
    pipes = [_start(share, do, verdict) for share in shares[1:]]
    done: dict[int, T] = {}
    verdicts: dict[int, Any] = {}
    _here(shares[0], do, verdict, done, verdicts)
    for pipe in pipes:
        verdicts.update(_verdicts(pipe))
    settled = done.keys() | verdicts.keys()
    left = [index for index in range(count) if index not in settled]
    _here(left, do, verdict, done, verdicts)
    return done, verdicts


def _here(
    share: Iterable[int],
    do: Callable[[int], T],
    verdict: Callable[[T], Any],
    done: dict[int, T],
    verdicts: dict[int, Any],
) -> None:
    for index in share:
        done[index] = do(index)
        settled = verdict(done[index])
        if settled is not None:
            verdicts[index] = settled


def _start(
    share: Iterable[int], do: Callable[[int], T], verdict: Callable[[T], Any]
) -> tuple[int, int]:
    """A worker for a share: its process, and the pipe that its verdicts come through."""
    reads, writes = os.pipe()
    process = os.fork()
    if process:
        os.close(writes)
        return process, reads
    try:
        os.close(reads)
        done: dict[int, T] = {}
        verdicts: dict[int, Any] = {}
        _here(share, do, verdict, done, verdicts)
        with os.fdopen(writes, "wb") as pipe:
            marshal.dump(verdicts, pipe)
    finally:
        # Neither handlers nor buffers of the process that this is a copy of.
        os._exit(0)


def _verdicts(worker: tuple[int, int]) -> Verdicts:
    """What a worker said; nothing if it died."""
    process, reads = worker
    with os.fdopen(reads, "rb") as pipe:
        data = pipe.read()
    os.waitpid(process, 0)
    try:
        verdicts: Verdicts = marshal.loads(data)  # noqa: S302 - written by a copy of this very process
    except (EOFError, ValueError, TypeError):
        return {}
    return verdicts
