"""Where a job saves its checkpoints, read from its variables and its command."""

from __future__ import annotations

from typing import NamedTuple

from compiler.model.command import options
from compiler.model.work import Work
from compiler.source import Route

_VARIABLE = "CHECKPOINT_DIR"
_OPTIONS = (
    "save",
    "save-path",
    "output-dir",
    "checkpoint-dir",
    "checkpoint-path",
    "ckpt-dir",
    "save-dir",
)


class Saved(NamedTuple):
    """A folder that a job saves to, by what it says so, and where."""

    path: str
    by: str
    at: Route


def saved_paths(work: Work) -> list[Saved]:
    """The folders that a job saves to, as absolute paths; relative ones are up to the program."""
    named = [(work.env.get(_VARIABLE), f"`{_VARIABLE}`", work.where_env(_VARIABLE))]
    for name, given in options(work.words):
        if name in _OPTIONS:
            named.append((given, f"`--{name}`", work.where_said(f"--{name}")))
    return [
        Saved(path, by, at) for path, by, at in named if path and path.startswith("/")
    ]


def claim_of(work: Work, path: str) -> str:
    """The claim that a path of the main container lies in; empty where it is none."""
    if work.main is None or work.pod is None:
        return ""
    around = [
        mount
        for mount in work.main.mounts
        if f"{path}/".startswith(mount.path.rstrip("/") + "/")
    ]
    if not around:
        return ""
    inner = max(around, key=lambda mount: len(mount.path))
    for volume in work.pod.volumes:
        if volume.name == inner.volume and volume.type == "persistentVolumeClaim":
            return volume.source
    return ""
