"""Finds keys that a platform takes and drops, by what the passes make of a cluster with each and without.

A key does something where a file differs, a finding, or the report. Digests of content are left out: they would differ
by every key of a job, whether anything reads it or not.
"""

from __future__ import annotations

import copy
import hashlib
import json
import re
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import Enum
from functools import cache, cached_property
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal, get_args, get_origin

import pytest
from pydantic import BaseModel
from trainyard.extensions.forecast.subjects import subject
from trainyard.extensions.review.report import FIRST, decisions, rest
from trainyard.extensions.review.report.markdown import lines
from trainyard.judge.policy import Policies, load_policies
from trainyard.language.source.assemble import assemble
from trainyard.plan.features import Platform
from trainyard.run.driver import check_document
from trainyard.run.language.documents import lists
from trainyard.run.language.reference import Key, keys
from trainyard.run.language.whole import language
from trainyard.run.outcome import Compilation, Options
from trainyard.verify.formats import written

Step = str | int
Place = tuple[Step, ...]
Value = Any
_SPEC = "spec."
_SHAPE = "SPC"
_MOST = 30
_GIVEN = 3
_AT_LINE = re.compile(r"`\S*spec\.yaml:\d+`")
_HASHING = ("trainyard.core.", "trainyard.eks.", "trainyard.extensions.", "trainyard.run.patching.")


def keys_of_platform(platform: Platform) -> list[Key]:
    """Every key of the language of a platform that it takes, each before the keys inside it."""
    below = (key for key in _below(language(platform)) if key.path.startswith(_SPEC))
    return [key for key in below if not _is_refused(platform, key.path)]


def _below(model: type[BaseModel], above: str = "") -> Iterator[Key]:
    for key in keys(model, above):
        yield key
        if key.model is not None:
            yield from _below(key.model, key.inside)


def _is_refused(platform: Platform, path: str) -> bool:
    plain = path.removeprefix(_SPEC).replace("[]", "").replace(".NAME", "")
    return platform.instead_of(plain) is not None


# --- what the passes make of a cluster


class _OneDigest:
    """A hash of which every content has the same digest."""

    def __init__(self, data: bytes = b"") -> None:
        """What the content is makes no difference."""

    def hexdigest(self) -> str:
        return "d" * 64

    def digest(self) -> bytes:
        return b"d" * 32


def without_digests(patch: pytest.MonkeyPatch) -> None:
    """Names and annotations have the same digest whatever their content is."""
    one = SimpleNamespace(sha256=_OneDigest)
    for name, module in list(sys.modules.items()):
        if not name.startswith(_HASHING):
            continue
        if getattr(module, "hashlib", None) is hashlib:
            patch.setattr(module, "hashlib", one)
        if getattr(module, "sha256", None) is hashlib.sha256:
            patch.setattr(module, "sha256", _OneDigest)


@cache
def _policies() -> Policies:
    return load_policies(None, today=date.min)[0]


class Passes:
    """What the passes make of clusters, each as far as it is asked for, and once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._made: dict[str, Made] = {}

    def of(self, data: Value) -> Made:
        """What they make of a cluster; nothing of it is judged before that is asked for."""
        text = json.dumps(data)
        if text not in self._made:
            self._made[text] = Made(self._folder, text)
        return self._made[text]


class Made:
    """What the passes make of one cluster: its files, and what they say of it."""

    def __init__(self, folder: Path, text: str) -> None:
        self._folder = folder
        self._text = text

    @cached_property
    def _written(self) -> Compilation:
        return self._done(Policies(()), Options(judged=False, explained=False))

    @cached_property
    def codes(self) -> list[str]:
        """What is found before anything is judged."""
        return [fact.code for fact in self._written.diagnostics]

    @cached_property
    def files(self) -> Mapping[str, bytes] | None:
        """The files by their paths; ``None`` where an error leaves none."""
        if self._written.failed:
            return None
        return {artifact.path: written(artifact) for artifact in self._written.artifacts}

    @cached_property
    def said(self) -> Sequence[str]:
        """The findings, and the report but for the values that it repeats from the spec."""
        done = self._done(_policies(), Options())
        found = [f"{fact.code} {fact.message} {fact.help}" for fact in done.diagnostics]
        shown = subject(done, Options())
        modules = [module for module in (*FIRST, *rest(shown)) if module is not decisions]
        blocks = [block for module in modules for block in module.section(shown)]
        return [_AT_LINE.sub("", line) for line in (*found, *lines(blocks))]

    def _done(self, policies: Policies, options: Options) -> Compilation:
        file = self._folder / "spec.yaml"
        file.write_text(self._text)
        (source,), faults = assemble([file], lists())
        done = check_document("lab", source.document, policies, options)
        done.diagnostics += faults
        return done


# --- where a key is written


@dataclass(frozen=True)
class Probe:
    """A cluster with one value of a key, or without it, and the ways to write another one into it, of which the first
    counts that the language takes."""

    before: Value
    ways: Sequence[Value]


class Writer:
    """Writes the keys of a platform into clusters.

    ``given``: values by path, where the key's own examples do not fit; ``where``: the cluster to write it into, where
    only one shows what it does.
    """

    def __init__(
        self, platform: Platform, given: Mapping[str, Sequence[Value]], where: Mapping[str, str]
    ) -> None:
        self._keys = {key.path: key for key in _below(language(platform))}
        self._given = given
        self._where = where

    def probes(self, clusters: Mapping[str, Value], path: str) -> Iterator[Probe]:
        """The values of a key in clusters: where what it stands in is there, or else with that from an example."""
        steps = _steps(path)
        bases = list(clusters.values())
        if self._where.get(path) in clusters:
            bases = [clusters[self._where[path]]]
        places: dict[str, tuple[Value, Place]] = {}
        for base in bases:
            for place in _places(base, steps[:-1], ()):
                around = value_at(base, place)
                if isinstance(around, dict):
                    places.setdefault(json.dumps(around), (base, place))
        found = sorted(places.values(), key=lambda each: steps[-1] not in value_at(*each))
        if path in self._given:
            found = found[:_GIVEN]
        for base, place in found:
            yield from self._of_key(base, (*place, steps[-1]), path)
        if not found and "." in path:
            yield from self._with_what_is_around(clusters, path)

    def _with_what_is_around(self, clusters: Mapping[str, Value], path: str) -> Iterator[Probe]:
        above = path.rpartition(".")[0].removesuffix("[]").removesuffix(".NAME").removesuffix("[]")
        some = dict(islice(clusters.items(), 2))
        if self._where.get(path) in clusters:
            some = {self._where[path]: clusters[self._where[path]]}
        for probe in self.probes(some, above):
            for way in probe.ways:
                yield from self._inside(way, path)

    def _inside(self, base: Value, path: str) -> Iterator[Probe]:
        steps = _steps(path)
        for place in _places(base, steps[:-1], ()):
            if isinstance(value_at(base, place), dict):
                yield from self._of_key(base, (*place, steps[-1]), path)

    def _of_key(self, base: Value, at: Place, path: str) -> Iterator[Probe]:
        here = value_at(base, at[:-1])
        name = at[-1]
        values = list(self._values(path))
        if name in here and path not in self._given:
            values += _others(here[name], self._keys[path])
        for value in values:
            if here.get(name) != value:
                yield Probe(base, list(_laid(base, here, at, value)))
        if name in here and path not in self._given:
            yield Probe(base, [_without(base, at)])

    def _values(self, path: str) -> Sequence[Value]:
        if path in self._given:
            return self._given[path]
        return self._keys[path].field.examples or ()


def _places(here: Value, steps: Sequence[str], done: Place) -> Iterator[Place]:
    """Where steps lead to in a value, through each item of lists."""
    if not steps:
        yield done
        return
    step, *later = steps
    if step == _ITEM and isinstance(here, list):
        for index, item in enumerate(here):
            yield from _places(item, later, (*done, index))
    elif step == _ITEM:
        yield from _places(here, later, done)
    elif step == _ANY and isinstance(here, dict):
        for name, item in here.items():
            yield from _places(item, later, (*done, name))
    elif isinstance(here, dict) and step in here:
        yield from _places(here[step], later, (*done, step))


def _others(value: Value, key: Key) -> Iterator[Value]:
    """Values like one that is there: of another size, with another end, or the other choices that there are."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int | float):
        yield value * 2
        yield value + 1
    elif isinstance(value, str):
        yield from _choices(key.field.annotation)
        yield _NUMBER.sub(lambda found: str(int(found[0]) * 2), value, count=1)
        yield _LAST_DIGIT.sub(lambda found: str((int(found[0]) + 1) % 10), value, count=1)
        yield f"{value}x"


def _choices(annotation: Any) -> Iterator[str]:
    if get_origin(annotation) is Literal:
        yield from get_args(annotation)
    else:
        for member in get_args(annotation):
            yield from _choices(member)


_NUMBER = re.compile(r"[1-9]\d*")
_LAST_DIGIT = re.compile(r"\d(?=\D*$)")
_ITEM, _ANY = "[]", "NAME"


def _steps(path: str) -> list[str]:
    return path.replace("[]", ".[]").split(".")


def value_at(data: Value, at: Sequence[Step]) -> Value:
    """The value at a place."""
    for step in at:
        data = data[step]
    return data


def _laid(base: Value, here: Mapping[str, Value], at: Place, value: Value) -> Iterator[Value]:
    """A cluster with a value: beside the others of its mapping, appended to its list, and alone in its mapping."""
    *above, name = at
    old = here.get(name)
    if isinstance(old, list) and isinstance(value, list):
        yield _with(base, above, {**here, name: [*old, *value]})
    elif isinstance(old, dict) and isinstance(value, dict):
        yield _with(base, above, {**here, name: {**old, **value}})
    yield _with(base, above, {**here, name: value})
    alone = {key: each for key, each in here.items() if not isinstance(each, dict)}
    yield _with(base, above, {**alone, name: value})


def _with(base: Value, at: Sequence[Step], value: Value) -> Value:
    if not at:
        return value
    changed = copy.deepcopy(base)
    value_at(changed, at[:-1])[at[-1]] = value
    return changed


def _without(base: Value, at: Sequence[Step]) -> Value:
    changed = copy.deepcopy(base)
    del value_at(changed, at[:-1])[at[-1]]
    return changed


# --- whether it does something


class Effect(Enum):
    """What a key does, the strongest that is seen."""

    WRITTEN = "another file is written"
    SAID = "something is found, or the report differs"
    REFUSED = "an error is found wherever it is tried"
    NOTHING = "nothing differs"
    NOT_TRIED = "no cluster takes it"


def effect(probes: Iterator[Probe], passes: Passes, *, given: bool) -> Effect:
    """What a key does by the first probe that shows it. ``given``: its values are chosen for what they do, so that an
    error is enough, one of its section too."""
    seen = Effect.NOT_TRIED
    same: list[tuple[Made, Made]] = []
    for probe in islice(probes, _MOST):
        before = passes.of(probe.before)
        if before.files is None:
            continue
        after = _taken(probe, passes)
        if after is None:
            seen = Effect.REFUSED if given else seen
        elif after.files is None:
            seen = Effect.REFUSED
        elif before.files != after.files:
            return Effect.WRITTEN
        else:
            same.append((before, after))
    if any(before.said != after.said for before, after in same):
        return Effect.SAID
    if same and not (given and seen is Effect.REFUSED):
        return Effect.NOTHING
    return seen


def _taken(probe: Probe, passes: Passes) -> Made | None:
    """The first way to write a key that the language takes."""
    for way in probe.ways:
        made = passes.of(way)
        if not any(code.startswith(_SHAPE) for code in made.codes):
            return made
    return None


def effects(
    platform: Platform,
    clusters: Mapping[str, Value],
    writer: Writer,
    passes: Passes,
    given: Collection[str],
    asked: Collection[Key],
) -> dict[str, Effect]:
    """What keys of a platform do, and those that they are inside: one with keys inside does what they do."""
    found: dict[str, Effect] = {}
    usable = {name: data for name, data in clusters.items() if passes.of(data).files is not None}
    for key in reversed(keys_of_platform(platform)):
        if key not in asked and not any(each.path.startswith(key.inside) for each in asked):
            continue
        inside = [found[path] for path in found if path.startswith(key.inside)]
        if any(one in (Effect.WRITTEN, Effect.SAID) for one in inside):
            found[key.path] = Effect.WRITTEN
        else:
            probes = writer.probes(usable, key.path)
            seen = effect(probes, passes, given=key.path in given)
            if key in asked or seen is Effect.REFUSED:  # some other key inside may do something
                found[key.path] = seen
    return found


def dropped(found: Mapping[str, Effect]) -> dict[str, str]:
    """The keys that do nothing, with what was seen; one inside a key that is refused is refused with it."""
    refused = [path for path, seen in found.items() if seen is Effect.REFUSED]
    nothing = (Effect.NOTHING, Effect.NOT_TRIED)
    return {
        path: seen.value
        for path, seen in found.items()
        if seen in nothing and not any(_is_inside(path, outer) for outer in refused)
    }


def _is_inside(path: str, outer: str) -> bool:
    return path.startswith((f"{outer}.", f"{outer}["))
