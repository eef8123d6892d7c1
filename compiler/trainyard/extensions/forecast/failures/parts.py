"""The parts of the time from a failure to the first new step, each with its bounds, its reason and its source."""

from __future__ import annotations

from collections.abc import Sequence

from trainyard.core.pools.waits import PROVISION, PULL, START
from trainyard.language.dataclass import dataclass
from trainyard.language.units import Duration

WATCHDOG = Duration.minutes(10)
"""How long NCCL's watchdog of PyTorch waits for a collective, unless the program says another `timeout` to
`init_process_group` (torch 2.12, torch/distributed/distributed_c10d.py: default_pg_nccl_timeout). No variable sets it:
`TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC`, 8 minutes, is how long the watchdog itself may be stuck (ProcessGroupNCCL.hpp)."""


@dataclass(frozen=True, slots=True)
class Part:
    """Something that takes ``least`` to ``most`` seconds; ``None`` where no upper bound is known."""

    name: str
    least: float
    most: float | None
    why: str


@dataclass(frozen=True, slots=True)
class Span:
    """From ``least`` to ``most`` seconds as far as they are known; ``unknown``: parts without an upper bound."""

    least: float
    most: float
    unknown: tuple[str, ...] = ()


def added(parts: Sequence[Part]) -> Span:
    """The sum of some parts, which come one after the other."""
    least = sum(part.least for part in parts)
    most = sum(part.least if part.most is None else part.most for part in parts)
    unknown = tuple(part.name for part in parts if part.most is None)
    return Span(least, most, unknown)


def noticed(most: int, why: str, least: int = 0) -> Part:
    """Until somebody knows of it."""
    return Part("notice", least, most, why)


def hangs() -> tuple[Part, str]:
    """Until the program knows that one of its ranks has failed, and by what, in words."""
    words = f"the program, by an error at once, or NCCL's watchdog after {WATCHDOG}"
    why = f"{words}, unless it calls `init_process_group(timeout=…)` with less"
    return noticed(WATCHDOG.seconds, why), words


def gone(hung: tuple[int, int], replaced: int | None, notice: Part, why: str) -> Part:
    """Until all processes are gone, those that hang and those of the lost node, which are both waited for at once.

    ``hung``: how long processes take that hang. ``replaced``: when the node goes, counted from the failure; ``None``
    where nobody takes it away.
    """
    if replaced is None:
        return Part("processes end", hung[0], None, why)
    rest = replaced - (notice.most or 0)
    return Part("processes end", hung[0], max(hung[1], rest), why)


def new_node(test: int, spare: int, then: str = "") -> Part:
    """Until a node is there: none has to come where one is free. ``then``: what it starts after its driver."""
    why = f"0s where a node is free; from nothing {PROVISION}: launch, boot, driver{then}"
    if test:
        why += f", and its diagnostics {Duration(test)} (NVIDIA DCGM 4.6, dcgmi diag)"
    if spare:
        why += f"; the pool has {spare} spare"
    return Part("new node", 0, PROVISION.seconds + test, why)


def pulled() -> Part:
    """Until the image is on a node."""
    return Part(
        "image", 0, PULL.seconds, "0s where the node has it; 25 GB at 40 MB/s from a registry"
    )


def started() -> Part:
    """Until the program computes its first step."""
    why = "containers, the rendezvous and NCCL's own start; what the program does besides is not known"
    return Part("start", START.seconds, START.seconds, why)
