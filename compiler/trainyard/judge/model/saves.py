"""Where a job saves its checkpoints, read from its variables and its command."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from trainyard.catalog.object_stores import URL_SCHEMES
from trainyard.judge.model.command import options
from trainyard.judge.model.work import Work
from trainyard.language.places import Route

_VARIABLE = "CHECKPOINT_DIR"
_OF_THE_POD = ("emptyDir", "ephemeral", "configMap", "secret", "projected", "downwardAPI", "")
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
    named: list[tuple[str | None, str, Route]] = []
    variable = work.env.get(_VARIABLE)
    if variable:
        at = work.where_env(_VARIABLE)
        named.append((variable, f"`{_VARIABLE}`", at))
    for name, given in options(work.words):
        if name in _OPTIONS:
            at = work.where_said(f"--{name}")
            named.append((given, f"`--{name}`", at))
    for name, given in saved_in_programs(work.words):
        at = work.where_said(name)
        named.append((given, f"`{name}=`", at))
    return [Saved(path, by, at) for path, by, at in named if path and path.startswith("/")]


_ARGUMENTS = "output_dir|save_dir|save_path|checkpoint_dir|checkpoint_path|ckpt_dir"
_ARGUMENT = rf"(?<![-\w])({_ARGUMENTS})\s*=\s*(?:[\"'](/[^\"'\n]*)[\"']|([A-Z][A-Z0-9_]*)\b)"
_PYTHON = ("python", "import ")


@lru_cache(maxsize=8192)
def saved_in_programs(words: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """The folders that programs of Python in a command are given to save to, by the name of the argument; a constant
    has the value that its line gives it. Most jobs of a set have the same command, and no program in it."""
    saved: dict[str, str] = {}
    for text in words:
        if "\n" not in text:
            continue
        if not all(hint in text for hint in _PYTHON):
            continue
        for argument, path, constant in re.findall(_ARGUMENT, text):
            path = path or _value_of(constant, text)
            if path:
                saved.setdefault(path, argument)
    pairs = saved.items()
    return tuple((argument, path) for path, argument in pairs)


def _value_of(constant: str, text: str) -> str:
    found = re.search(rf"^[ \t]*{constant}\s*=\s*[\"'](/[^\"'\n]*)[\"']", text, re.MULTILINE)
    return found[1] if found else ""


def claim_of(work: Work, path: str) -> str:
    """The claim that a path of the main container lies in; empty where it is none."""
    if work.main is None or work.pod is None:
        return ""
    around = [
        mount for mount in work.main.mounts if f"{path}/".startswith(mount.path.rstrip("/") + "/")
    ]
    if not around:
        return ""
    inner = max(around, key=lambda mount: len(mount.path))
    for volume in work.pod.volumes:
        if volume.name != inner.volume:
            continue
        if volume.type == "persistentVolumeClaim":
            return volume.source
    return ""


def has_place_to_save(work: Work) -> bool:
    """Whether anything that outlives the pods is known to the job, or may be."""
    if work.pod is not None:
        volumes = work.pod.volumes
    else:
        volumes = ()
    elsewhere = [folder for folder in work.folders if folder.lasting is not False]
    if not work.has_pods and elsewhere:
        return True
    if any(volume.type not in _OF_THE_POD for volume in volumes):
        return True
    if _VARIABLE in work.env or "volumes" in work.unread:
        return True
    texts = [*work.words, *filter(None, work.env.values())]
    return any(scheme in text for text in texts for scheme in URL_SCHEMES)
