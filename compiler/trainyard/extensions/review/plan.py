"""``plan``: what a merge will do, between a revision of git and the working tree."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from trainyard.cli.exits import CHANGES, CLEAN, FINDINGS, USAGE
from trainyard.cli.output import colored, require_format
from trainyard.cli.settings import command, complain, run_options
from trainyard.cli.streams import print_out
from trainyard.disk.inputs import is_file, is_folder, real_path, with_file
from trainyard.extensions.forecast.subjects import subject
from trainyard.extensions.review.git import Base, BaseError, Repository
from trainyard.extensions.review.plan_shown import Merge, printed
from trainyard.extensions.review.report.amounts import amounts
from trainyard.extensions.review.revisions import changes_of, earlier, revisions
from trainyard.language.diagnostics import Diagnostic, Severity
from trainyard.language.places import Route
from trainyard.output.emit import MANIFEST
from trainyard.run.driver import check
from trainyard.run.outcome import Compilation, Options
from trainyard.run.unread import spec_elsewhere

_NAME = Route(("metadata", "name"))


@command
def run_plan(options: argparse.Namespace) -> int:
    """``plan``: what a merge will do; exit code 1 if a spec is in error."""
    require_format(options, "text", "markdown", "json")
    try:
        repository = Repository(Path.cwd())
        base = repository.base(options.base)
        with TemporaryDirectory() as folder:
            root = Path(os.path.realpath(folder))
            repository.copy(base.commit, _folders(options), root)
            (root / ".git").touch()  # as far as paths of a spec may lead
            output = os.path.relpath(
                os.path.realpath(options.output), os.path.realpath(repository.root)
            )
            options.against = root / output
            options.against.mkdir(parents=True, exist_ok=True)
            return _Comparison(options, base, root).run()
    except BaseError as fault:
        complain([fault.diagnostic])
        return USAGE


def _folders(options: argparse.Namespace) -> list[Path]:
    """What is read of the base: the working directory, and what is named outside of it."""
    paths = [Path(path) for path in options.paths]
    specs = [path if is_folder(path) else path.parent for path in paths]
    return [Path.cwd(), options.output, *specs]


class _Comparison:
    """The working tree against the files of the base, which are in a folder of their own."""

    def __init__(self, options: argparse.Namespace, base: Base, root: Path) -> None:
        self._options = options
        self._base = base
        self._root = f"{root}{os.sep}"
        self._settings: Options = run_options(options, explained=True)

    def run(self) -> int:
        """Compare every cluster, and print; the exit code."""
        options = self._options
        done = check(options.paths, self._settings, current=lambda _: None)
        found = done.errors()
        failed = bool(found)
        merges = []
        for compilation in done.compilations:
            if compilation.plan is not None and compilation.spec is not None:
                merge, notes = self._merge(compilation)
                merges.append(merge)
                found += notes
        if not done.unread:
            found += self._left_out([each.name for each in done.compilations])
        complain(map(self._renamed, found))
        if merges or not failed:
            text = printed(
                options.format, merges, self._base, color=colored(options), whole=options.verbose
            )
            print_out(text)
        if failed:
            return FINDINGS
        changes = any(merge.changes for merge in merges)
        return CHANGES if changes and options.detailed_exitcode else CLEAN

    def _merge(self, done: Compilation) -> tuple[Merge, list[Diagnostic]]:
        before, reason = earlier(done.name, self._settings)
        old, new = revisions(done, before, self._settings)
        now = subject(done, self._settings)
        then = None if before is None else subject(before, self._settings)
        changes = changes_of(then, now, old, new)
        found = list(_of_this_edit(done, before))
        merge = Merge(
            name=done.name,
            changes=changes,
            amounts=amounts(then, now, new=not old.files),
            findings=tuple(map(self._renamed, found)),
        )
        return merge, list(self._unread(done, reason))

    def _unread(self, done: Compilation, reason: str) -> Iterator[Diagnostic]:
        """What of a cluster in the base is not known. ``reason``: why its spec is not."""
        assert self._settings.against is not None
        if is_file(self._settings.against / done.name / MANIFEST):
            if reason:
                yield _note(
                    "PLN008",
                    f"the spec of `{done.name}` in the base is not compiled: lines and costs before are not known",
                    "nothing; what changes is known by the committed files. A spec that an earlier version took may be "
                    "in error now",
                )
            return
        spec = os.path.relpath(done.document.span(_NAME).file.name)
        if is_file(os.path.join(self._at_base(os.getcwd()), spec)):
            yield _note(
                "PLN007",
                f"the base has the spec of `{done.name}`, and no output of it: all of it counts as added",
                f"commit `{self._settings.output}`, which Flux applies",
            )

    def _at_base(self, folder: str) -> str:
        """A folder of the repository, as the base has it."""
        top = os.path.relpath(os.path.realpath(folder), os.path.realpath(self._base.root))
        return os.path.join(self._root, top)

    def _left_out(self, names: Sequence[str]) -> Iterator[Diagnostic]:
        """Clusters of the base that nothing is compiled to, where folders of specs are read."""
        assert self._settings.against is not None
        if not any(map(is_folder, self._options.paths)):
            return
        read = [Path(real_path(path)) for path in self._options.paths]
        for folder in with_file(self._settings.against, MANIFEST):
            name = Path(folder).name
            written = self._settings.output / name / MANIFEST
            if name not in names and not spec_elsewhere(written, read):
                yield _note(
                    "PLN006",
                    f"cluster `{name}` of the base has no spec here: it is not compared",
                    "name its spec too; a cluster that is to go is taken down first: `bootstrap/down.sh`",
                )

    def _renamed(self, found: Diagnostic) -> Diagnostic:
        """A finding with files of the base under the names that git gives them."""

        def renamed(text: str) -> str:
            return text.replace(self._root, f"{self._base.short}:")

        return replace(
            found,
            message=renamed(found.message),
            help=renamed(found.help),
            notes=tuple(map(renamed, found.notes)),
        )


def _of_this_edit(done: Compilation, before: Compilation | None) -> Iterator[Diagnostic]:
    """What history says of the edit: what it says of the base too was there before."""
    known = set() if before is None else {_said(each) for each in before.diagnostics}
    for each in done.diagnostics:
        if each.code.startswith("CHG") and _said(each) not in known:
            yield each


def _said(found: Diagnostic) -> tuple[str, str]:
    return found.code, found.message


def _note(code: str, message: str, help: str) -> Diagnostic:
    return Diagnostic(code, Severity.NOTE, message, help=help)
