"""Kueue's topology annotations on pod templates (kueue v0.19.2, pkg/controller/jobframework/tas_validation.go)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.verify.fault import Fault, Path, refused
from trainyard.verify.syntax import SYNTAXES

PREFIX = "kueue.x-k8s.io/podset-"
_MODES = ("required-topology", "preferred-topology", "unconstrained-topology")
_SLICE_LEVEL, _SLICE_SIZE, _GROUP = ("slice-required-topology", "slice-size", "group-name")


def topology(path: Path, annotations: Any, pods: int = 0) -> Iterator[Fault]:
    """Faults of the annotations of a pod template; ``pods`` of it there are, 0 if not known."""
    if not isinstance(annotations, dict):
        return
    given = {
        key.removeprefix(PREFIX): value
        for key, value in annotations.items()
        if key.startswith(PREFIX)
    }
    if not given:
        return
    modes = [mode for mode in _MODES if mode in given]
    if len(modes) > 1:
        named = " and ".join([f"`{PREFIX}{mode}`" for mode in modes])
        yield refused(
            (*path, PREFIX + modes[1]), f"{named} exclude each other", "keep one", key=True
        )
    yield from _values(path, given)
    yield from _slices(path, given, pods)
    yield from _group(path, given)


def _values(path: Path, given: dict[str, Any]) -> Iterator[Fault]:
    syntax = SYNTAXES["label-key"]
    for mode in (*_MODES[:2], _SLICE_LEVEL):
        if mode not in given:
            continue
        level = str(given[mode])
        if not syntax.accepts(level):
            yield refused(
                (*path, PREFIX + mode),
                f"`{level}` is not the label key of a topology level",
                help="write a node label key that is a level of the Topology, like `kubernetes.io/hostname`",
            )
    unconstrained = _MODES[2]
    flag = str(given.get(unconstrained, "true"))
    if flag not in ("true", "false"):
        yield refused(
            (*path, PREFIX + unconstrained),
            f"`{flag}` is neither `true` nor `false`",
            help="write `true` or `false`, in quotes",
        )


def _slices(path: Path, given: dict[str, Any], pods: int) -> Iterator[Fault]:
    fields = (_SLICE_LEVEL, _SLICE_SIZE)
    pair = [name for name in fields if name in given]
    if len(pair) == 1:
        if pair == [_SLICE_LEVEL]:
            lacks = _SLICE_SIZE
        else:
            lacks = _SLICE_LEVEL
        yield refused(
            (*path, PREFIX + pair[0]),
            f"`{PREFIX}{pair[0]}` needs `{PREFIX}{lacks}`",
            key=True,
            help=f"add `{PREFIX}{lacks}`, or remove this one",
        )
    if _SLICE_SIZE not in given:
        return
    size = str(given[_SLICE_SIZE])
    is_count = size.isdecimal() and int(size) >= 1
    if not is_count or (pods and int(size) > pods):
        most = f" to {pods}" if pods else ""
        yield refused(
            (*path, PREFIX + _SLICE_SIZE),
            f"slice size `{size}` is not a whole number from 1{most}",
            help="write a whole number in this range",
        )


def _group(path: Path, given: dict[str, Any]) -> Iterator[Fault]:
    if _GROUP not in given:
        return
    here = (*path, PREFIX + _GROUP)
    if str(given[_GROUP]).isdecimal():
        yield refused(here, f"group name `{given[_GROUP]}` is a number", "begin it with a letter")
    if not set(_MODES[:2]) & set(given):
        yield refused(
            here,
            f"`{PREFIX}{_GROUP}` needs a required or preferred topology",
            key=True,
            help="add `kueue.x-k8s.io/podset-required-topology`, or remove the group",
        )
    if {_SLICE_LEVEL, _SLICE_SIZE} & set(given):
        yield refused(
            here,
            f"`{PREFIX}{_GROUP}` and slices exclude each other",
            key=True,
            help="keep one of them",
        )
