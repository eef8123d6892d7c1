"""Specs that are edited, and what the edit means."""

from __future__ import annotations

import shutil
from dataclasses import replace
from datetime import date
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from running import EXAMPLE, ROOT
from trainyard.extensions.review.consequences import Change, Place, Revision, compared
from trainyard.extensions.review.revisions import revisions
from trainyard.run.driver import check
from trainyard.run.outcome import Compilation, Options
from trainyard.run.writer import rendered

TODAY = date(2026, 11, 25)


_KEPT: list[TemporaryDirectory[str]] = []
"""Removed when the process ends."""


@cache
def _committed(spec: str) -> tuple[Path, Compilation]:
    """A folder with a spec of the examples or scenarios and its output, and its compilation."""
    kept = TemporaryDirectory()
    _KEPT.append(kept)
    folder = Path(kept.name)
    shutil.copytree(EXAMPLE / "specs", folder / "specs")
    shutil.copytree(ROOT / "tests" / "scenarios", folder / "scenarios")
    options = Options(today=TODAY, output=folder / "generated")
    (done,) = check([folder / spec], options).compilations
    assert done.plan is not None
    for path, data in rendered(done, options).items():
        file = folder / "generated" / done.name / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    return folder, done


def compiled(
    spec: str, file: str, edits: tuple[tuple[str, str], ...]
) -> tuple[Compilation, Options]:
    """A spec with texts of one of its files replaced, compiled next to what was committed of it before."""
    folder, _ = _committed(spec)
    options = Options(today=TODAY, output=folder / "generated", hold=True, replace=())
    path = folder / file
    before = path.read_text()
    text = before
    for old, new in edits:
        assert text.count(old) >= 1, f"{old!r} is not in {file}"
        text = text.replace(old, new)
    try:
        path.write_text(text)
        (done,) = check([folder / spec], options, current=lambda _: None).compilations
    finally:
        path.write_text(before)
    return done, options


def sides(spec: str, file: str, edits: tuple[tuple[str, str], ...]) -> tuple[Revision, Revision]:
    """Both revisions of an edit."""
    folder, before = _committed(spec)
    done, options = compiled(spec, file, edits)
    assert done.plan is not None, [each.message for each in done.diagnostics]
    old, new = revisions(done, before, options)
    return old, replace(new, root=str(folder))


def between(spec: str, file: str, first: tuple[str, str], second: tuple[str, str]) -> list[Change]:
    """What a second edit means after a first one."""
    files = []
    for edits in ((first,), (first, second)):
        done, options = compiled(spec, file, edits)
        artifacts = {artifact.path: artifact for artifact in done.artifacts}
        files.append((rendered(done, options), artifacts, done.document))
    (old, made, document), (new, making, changed) = files
    return compared(
        Revision(files=old, artifacts=made, document=document, base=True),
        Revision(files=new, artifacts=making, document=changed),
    )


def line(spec: str, file: str, edits: tuple[tuple[str, str], ...], place: Place) -> str:
    """The text of the line that a change says causes it."""
    folder, _ = _committed(spec)
    text = (folder / place.file).read_text()
    if place.file == file and not place.base:
        for old, new in edits:
            text = text.replace(old, new)
    return text.splitlines()[place.line - 1]


def changes(spec: str, file: str, *edits: tuple[str, str]) -> list[Change]:
    """What an edit of one file of a spec means."""
    return compared(*sides(spec, file, edits))
