"""Batch jobs of Slurm: what ``sbatch`` is told, and what runs on each node."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import ClassVar

from compiler.core.jobs.plan import Gang
from compiler.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class BindMount:
    """A folder of the nodes that the container of a job sees at another path."""

    source: str
    path: str
    read_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredValue:
    """A variable whose value is read from Secrets Manager when the job starts: of a secret, and of its JSON a key; ""
    is the whole text."""

    name: str
    secret: str
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchJob(Gang):
    """A batch job. ``partitions`` are tried in their order. ``exclusive``: it has its nodes alone.

    ``account`` and ``qos`` are those of accounting. ``stop_signal``: so many seconds before its time is over its
    programs get SIGTERM. ``retries``: how often it is started again after it failed. ``rendezvous``: variables whose
    values the script works out. ``mounts`` and ``files`` (texts by path) are what its container sees of the nodes.
    ``program``: so many of its words are of the spec's ``command``, and the rest of its ``args``.
    """

    has_all_efa: ClassVar[bool] = True

    partitions: tuple[str, ...] = ()
    account: str | None = None
    qos: str | None = None
    exclusive: bool = False
    retries: int | None = None
    requeue: bool = False
    stop_signal: int | None = None
    rendezvous: tuple[tuple[str, str], ...] = ()
    stored: tuple[StoredValue, ...] = ()
    mounts: tuple[BindMount, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    working_dir: str = ""
    output: str = ""
    comment: str = ""
    program: int = field(default=0, compare=False)
