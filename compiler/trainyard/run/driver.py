"""The driver: runs the passes in order, from files to a judged compilation. It prints and writes nothing."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from trainyard.catalog import load_catalog
from trainyard.disk.inputs import Record, recording, seen_before
from trainyard.judge.policy import Policies, load_policies
from trainyard.judge.policy.config import Config
from trainyard.language.diagnostics import Diagnostic, Severity
from trainyard.language.places import Document
from trainyard.language.source.assemble import SpecSource, assemble
from trainyard.output.manifest import Manifest
from trainyard.run.fleet import spread
from trainyard.run.language.documents import lists
from trainyard.run.language.load import load, platform_of
from trainyard.run.outcome import Compilation, Options, Outcome
from trainyard.run.passes import Lowered, Session, compile_spec
from trainyard.run.repeat import Repeats
from trainyard.run.unread import is_everything

_MANY = 16  # specs from which on every core takes a share

Current = Callable[[Compilation], tuple[str, ...] | None]


def _ignore(manifests: Sequence[Manifest]) -> None:
    """Nothing waits for the objects."""


def _clean(done: Compilation) -> tuple[str, ...] | None:
    """Nothing to say, and no files to compare."""
    return None if done.diagnostics else ()


def check(
    paths: Iterable[str | os.PathLike[str]],
    options: Options,
    lowered: Lowered | None = None,
    current: Current = _clean,
) -> Outcome:
    """Every spec of the paths through every pass but writing.

    ``lowered`` gets the objects of each before the passes judge them, so that something can be made of them meanwhile.
    ``current`` gives the files of a compilation after which nothing is left to do; of many specs, only the others are
    handed back whole.
    """
    paths = list(paths)
    sources, diagnostics = assemble(paths, lists())
    with recording() as shared:
        diagnostics += load_catalog(options.catalog).faults
        if any(fact.severity is Severity.ERROR for fact in diagnostics):
            return Outcome([], [*diagnostics, *_of_form(sources, diagnostics)])
        policies = Policies(())
        if options.judged:
            policies, faults = load_policies(options.policies, today=options.today)
            diagnostics += faults
    work = _Work(sources, policies, options, lowered or _ignore, current)
    if lowered is None and shared.whole:
        work.repeat(shared.digest())
    outcome = Outcome(work.compilations(), diagnostics)
    if policies.config.exceptions:
        _excuse(outcome, policies.config, paths, options)
    return outcome


_BOMB = "YML005"
"""Aliases that stand for very much: a fault of each would be told as often."""


def _of_form(sources: Iterable[SpecSource], known: Sequence[Diagnostic]) -> Iterator[Diagnostic]:
    """What is wrong with the form of specs that cannot be read as a whole, so that all of it is told at once. What is
    missing may stand where nothing could be read, and a value that has a fault is told of once."""
    places = {str(fault.span) for fault in known}
    bombs = {fault.span.file.name for fault in known if fault.code == _BOMB and fault.span}
    for source in sources:
        document = source.document
        if bombs & {file.name for file in source.files}:
            continue
        for fault in load(document, platform_of(document))[1]:
            located = fault.locate(document)
            if fault.code != "SPC001" and str(located.span) not in places:
                yield located


def check_document(
    name: str, document: Document, policies: Policies, options: Options
) -> Compilation:
    """One spec that is in memory through every pass but writing."""
    session = Session(options, policies, load_catalog(options.catalog))
    return compile_spec(name, document, session, _ignore)


class _Work:
    """The specs of a run, each of which goes through the passes, unless a run before did that with the same inputs."""

    def __init__(
        self,
        sources: Sequence[SpecSource],
        policies: Policies,
        options: Options,
        lowered: Lowered,
        current: Current,
    ) -> None:
        self._sources = sources
        self._session = Session(options, policies, load_catalog(options.catalog))
        self._lowered = lowered
        self._current = current
        self._repeats: Repeats | None = None
        self._records: dict[int, Record] = {}

    def repeat(self, shared: str) -> None:
        """Take from the cache what is known of each of several clusters; of one, the whole run would be known."""
        cache = self._session.options.cache
        if cache is not None and len(self._sources) > 1:
            compared = self._current is not _clean
            self._repeats = Repeats(cache, self._session.options, shared, compared=compared)

    def compilations(self) -> list[Compilation]:
        """One of each spec, in their order."""
        known: dict[int, Compilation] = {}
        if self._repeats is not None:
            for index, source in enumerate(self._sources):
                done = self._repeats.get(source)
                if done is not None:
                    known[index] = done
        left = [index for index in range(len(self._sources)) if index not in known]
        if self._lowered is _ignore and len(left) >= _MANY:
            known |= self._spread(left)
        else:
            known |= {index: self._compile(index) for index in left}
        return [known[index] for index in range(len(self._sources))]

    def _compile(self, index: int) -> Compilation:
        source = self._sources[index]
        with recording() as record:
            done = compile_spec(source.name, source.document, self._session, self._lowered)
            if self._repeats is not None and self._current is not _clean:
                done.current = self._current(done)
        if self._repeats is not None:
            is_all = done.current is not None or self._current is _clean
            self._repeats.put(source, done, record, whole=is_all)
        self._records[index] = record
        return done

    def _spread(self, left: Sequence[int]) -> dict[int, Compilation]:
        """Every core takes a share; what a worker says of a cluster is what it saw, and its files."""

        def compiled(number: int) -> tuple[int, Compilation]:
            index = left[number]
            return index, self._compile(index)

        done, verdicts = spread(len(left), compiled, self._verdict)
        compilations = {}
        for number, index in enumerate(left):
            source = self._sources[index]
            if number in done:
                _, compilation = done[number]
            else:
                compilation = Compilation(source.name, source.document)
            if number in verdicts:
                compilation.current, seen, is_whole = verdicts[number]
                seen_before(seen, whole=is_whole)
            compilations[index] = compilation
        return compilations

    def _verdict(self, indexed: tuple[int, Compilation]) -> tuple[Any, ...] | None:
        """The files of a cluster and what was seen for it, where nothing is left to do or to say."""
        index, done = indexed
        if done.diagnostics:
            return None
        record = self._records[index]
        files = done.current
        if files is None:
            with recording() as more:
                files = self._current(done)
            record.add(more)
        if files is None:
            return None
        return files, record.items(), record.whole


def _excuse(
    outcome: Outcome, config: Config, paths: Sequence[str | os.PathLike[str]], options: Options
) -> None:
    """Apply the exceptions over all specs at once: one is unused only if none of them needs it."""
    compilations = outcome.compilations
    findings: list[Diagnostic] = []
    for compilation in compilations:
        findings += compilation.diagnostics
    judged = all(compilation.judged for compilation in compilations)
    names = [compilation.name for compilation in compilations]
    everything = is_everything(paths, names, options.policies, options.output)
    kept, excused = config.excuse(findings, judged=judged, everything=everything)
    known = {id(finding) for finding in findings}
    of_exceptions = [finding for finding in kept if id(finding) not in known]
    outcome.diagnostics += of_exceptions
    gone = {id(finding) for finding in excused}
    for compilation in compilations:
        diagnostics = compilation.diagnostics
        compilation.diagnostics = [finding for finding in diagnostics if id(finding) not in gone]
    outcome.excused = len(excused)
