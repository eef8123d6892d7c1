"""What a job says of the place where its ranks meet: options of launchers, and variables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trainyard.judge.model.command import named_options
from trainyard.judge.model.work import Work
from trainyard.language.places import Route

_OPTIONS = (
    *("rdzv-id", "rdzv-endpoint", "master-addr", "master-port"),
    *("main-process-ip", "main-process-port"),
)
"""Of torchrun, and of accelerate (torch 2.12, torch/distributed/run.py; accelerate 1.14, commands/launch.py)."""
VARIABLES = (
    *("PET_RDZV_ID", "PET_RDZV_ENDPOINT", "PET_MASTER_ADDR", "PET_MASTER_PORT"),
    *("MASTER_ADDR", "MASTER_PORT"),
)


class Said(NamedTuple):
    """A value on which all ranks must agree: its name, the value, and its place."""

    name: str
    value: str
    at: Route

    @property
    def host(self) -> str:
        """The host in it, without a port; empty where it is about something else."""
        if "port" in self.name.lower() or self.name.lower().endswith("id"):
            return ""
        return self.value.strip("\"'").rpartition("://")[2].partition(":")[0]


def meeting(work: Work) -> Iterator[Said]:
    """What a job says of the place where its ranks meet."""
    options = named_options(work.words)
    for name in _OPTIONS:
        given = options.get(name)
        if given:
            yield Said(f"--{name}", given, work.where_said(f"--{name}"))
    for name in VARIABLES:
        text = work.env.get(name)
        if text:
            yield Said(name, text, work.where_env(name))
