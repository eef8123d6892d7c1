"""Amounts and times as options of Slurm write them (Slurm 25.05, sbatch: --mem, --gres, --gpus, --time)."""

from __future__ import annotations

import re

_UNITS = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3, "t": 1024**4}
_DIGITS = 18
"""No machine has an amount of more digits: what is behind them is left out, and it is too much still."""


def bytes_of(value: str | None) -> int:
    """A size, in MiB where it has no unit; 0 is all memory, and so unknown."""
    if not value:
        return 0
    found = re.fullmatch(r"([0-9]+)([KMGTkmgt]?)[bB]?", value)
    if found is None:
        return 0
    return int(found[1][:_DIGITS]) * _UNITS[(found[2] or "m").lower()]


def gpus_of(value: str | None, *, named: bool = True) -> int:
    """The GPUs of ``gpu:8``, ``gpu:h100:8`` or, not ``named``, ``8``; ``1k`` is 1,024 (sbatch, --gres)."""
    if not value:
        return 0
    for part in value.split(","):
        words = part.split(":")
        if named and words[0] != "gpu":
            continue
        count = re.fullmatch(r"([0-9]+)([KMGTkmgt]?)", words[-1])
        if count is not None:
            return int(count[1][:_DIGITS]) * _UNITS[count[2].lower()]
        return 1 if named else 0
    return 0


def seconds_of(value: str | None) -> int | None:
    """A time limit: minutes, minutes:seconds, hours:minutes:seconds, days-hours[:minutes[:seconds]]."""
    if value is None:
        return None
    found = re.fullmatch(r"(?:(\d{1,5})-)?(\d{1,7})(?::(\d{1,2}))?(?::(\d{1,2}))?", value)
    if found is None:
        return None
    days, first, second, third = (int(part) if part else 0 for part in found.groups())
    if found[1] is not None:
        return days * 86400 + first * 3600 + second * 60 + third
    if found[4] is not None:
        return first * 3600 + second * 60 + third
    return first * 60 + second
