"""Names of programs that start the processes of a job, as they appear in commands."""

from __future__ import annotations

from collections.abc import Iterable

_TORCHRUN = ("torchrun", "torch.distributed.run", "torch.distributed.launch")


def launches_torchrun(parts: Iterable[str]) -> bool:
    """Whether a command starts its processes with torchrun, directly or in a shell line."""
    return any(launcher in part for part in parts for launcher in _TORCHRUN)


def first_named(parts: Iterable[str], names: Iterable[str]) -> str | None:
    """The first of some names that a part of a command contains; ``None`` for none."""
    line = "\n".join(parts)
    return next((name for name in names if name in line), None)
