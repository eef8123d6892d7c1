"""What the compiler decided and, separately, what the spec set instead."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from trainyard.core.jobs.plan import Gang
from trainyard.eks.release.versions import is_version
from trainyard.extensions.forecast.blocks import Block, folded, table
from trainyard.extensions.forecast.subject import Subject
from trainyard.plan import Derived

_BY_THE_SPEC = "set by the spec"
_NAME, _RUN = "‹name›", "‹run›"
_NAMED = 3  # objects that a line names


def section(subject: Subject) -> Iterator[Block]:
    """Both folded away and sorted; versions of upstream components by themselves.

    ``‹name›`` is the name of the object, and ``‹run›`` that of a job's TrainJob.
    """
    decided, given, versions = [], [], []
    for value in subject.plan.derived:
        if _is_version(value):
            versions.append(value)
        elif value.reason.startswith(_BY_THE_SPEC):
            given.append(value)
        else:
            decided.append(value)
    jobs = subject.plan.of(Gang)
    runs = {f"job/{job.source_name}": job.name for job in jobs}
    with_reasons = ("of", "field", "value", "reason")
    yield from _part("Decisions of the compiler", decided, with_reasons, runs)
    yield from _part("Set by the spec", given, ("of", "field", "value"), runs)
    yield from _part("Versions", versions, ("of", "field", "value"), runs)


def _is_version(value: Derived) -> bool:
    """Whether it is the version of a component."""
    return value.object == "cluster" and is_version(value.field)


def _part(
    title: str, values: Iterable[Derived], header: tuple[str, ...], runs: Mapping[str, str]
) -> Iterator[Block]:
    """A line for each value; objects for which it is the same, but for their own names, share one."""
    objects: dict[tuple[str, ...], list[str]] = {}
    for value in values:
        kind, _, name = value.object.partition("/")
        run = runs.get(value.object, "")
        texts = [_without(text, name, run) for text in (value.field, value.value, value.reason)]
        line = (kind, *texts)[: len(header)]
        objects.setdefault(line, []).append(value.object)
    if not objects:
        return
    rows = []
    for line, names in sorted(objects.items()):
        row = (_named(names), *line[1:])
        rows.append(row)
    summary = f"{title} ({len(rows)})"
    yield folded(summary, [table(header, rows)])


def _without(text: str, name: str, run: str) -> str:
    """A text that is the same for all objects that differ in their names alone."""
    if run:
        text = text.replace(run, _RUN)
    if name:
        whole_word = rf"\b{re.escape(name)}\b"
        text = re.sub(whole_word, _NAME, text)
    return text


def _named(objects: list[str]) -> str:
    if len(objects) <= _NAMED:
        return ", ".join(sorted(objects))
    kind, _, _ = objects[0].partition("/")
    return f"{len(objects)} {kind}s"
