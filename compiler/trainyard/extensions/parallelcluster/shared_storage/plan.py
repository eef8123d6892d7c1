"""Shared storage: file systems that all nodes mount, and buckets that they may use."""

from __future__ import annotations

from dataclasses import field

from trainyard.language.dataclass import dataclass
from trainyard.plan.base import PlanItem


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedFileSystem(PlanItem):
    """A file system that all nodes mount at ``mount_dir``.

    ``kind`` is FsxLustre or Ebs; ``id`` that of a file system or volume that exists, or a variable that the bootstrap
    fills in with what it made.
    """

    name: str
    mount_dir: str
    kind: str
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketAccess(PlanItem):
    """A bucket that the programs of all nodes may read, and write unless it is ``read_only``; ``storage``: its name in
    the spec."""

    name: str
    read_only: bool = False
    storage: str = field(default="", compare=False)


def variable_of(storage: str) -> str:
    """The variable that stands for the id of a file system until the bootstrap has made it."""
    name = storage.upper().replace("-", "_")
    return f"${{FSX_{name}}}"
