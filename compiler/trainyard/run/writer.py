"""Renders and writes the files of a cluster's folder, with cdk8s' check of each object."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from trainyard import __version__
from trainyard.catalog import load_catalog
from trainyard.disk.inputs import real_path, with_file
from trainyard.language.dataclass import dataclass
from trainyard.language.diagnostics import Diagnostic
from trainyard.language.diagnostics.diagnostic import error, warning
from trainyard.language.places import Route
from trainyard.output.emit import MANIFEST, tree
from trainyard.output.emit.marker import marked
from trainyard.output.synthesis import Synthesis
from trainyard.plan import Plan
from trainyard.run.history import Run, submitted
from trainyard.run.history.words import Words
from trainyard.run.outcome import Compilation, Options, Outcome
from trainyard.run.passes import setting_of, traced
from trainyard.run.unread import spec_elsewhere
from trainyard.verify.formats import unjudged, written

_NAME = Route(("metadata", "name"))


def render(done: Compilation, base: Path) -> dict[str, bytes]:
    """All files of a compilation's folder, by path. ``base``: what the path of the spec is relative to."""
    assert done.plan is not None
    files = {artifact.path: written(artifact) for artifact in done.artifacts}
    for run in known_runs(done):
        files[run.path] = run.to_bytes()
    files[MANIFEST] = _head(done, done.plan, base)
    return {path: marked(path, data) for path, data in files.items()}


def refused(done: Compilation) -> list[Diagnostic]:
    """What is wrong with pages: their text is rendered when they are written, and so judged then. What is written as
    it was has been judged."""
    assert done.plan is not None
    setting = setting_of(done.plan, done.artifacts)
    faults = unjudged(done.artifacts, setting)
    placed = traced(faults, done.artifacts)
    return [fault.locate(done.document) for fault in placed]


def known_runs(done: Compilation) -> list[Run]:
    """Every run to remember; without a look at the committed folder, those of this plan."""
    if done.runs is not None:
        return done.runs
    assert done.plan is not None
    return submitted(done.plan, done.manifests, Words(done.document))


def _head(done: Compilation, plan: Plan, base: Path) -> bytes:
    """What the folder was written from. Lines that edits of the spec change are separated by lines that none
    changes."""
    sources = load_catalog().sources[:4]
    head = {
        "spec": _spec_file(done, base),
        "cluster": done.name,
        "release": plan.release,
        "trainyard": __version__,
        "facts": {source.name: source.date for source in sources},
    }
    text = json.dumps(head, indent=1, ensure_ascii=False)
    # Names of files that are not UTF-8 hold lone surrogates, which JSON can only escape.
    return text.encode(errors="backslashreplace") + b"\n"


def _spec_file(done: Compilation, base: Path) -> str:
    """The file of the cluster's document: the same on every machine, and with all links to its folder followed."""
    name = done.document.span(_NAME).file.name
    absolute = os.path.abspath(name)
    folder, file = os.path.split(absolute)
    real_folder = real_path(folder)
    path = os.path.join(real_folder, file)
    relative = os.path.relpath(path, base)
    return Path(relative).as_posix()


def current(done: Compilation, options: Options) -> tuple[str, ...] | None:
    """The files of a compilation's folder, where it is judged and nothing is left to write."""
    if done.failed or done.plan is None:
        return None
    folder = options.output / done.name
    files = render(done, _base(options))
    changes = tree.diff(folder, files)
    if changes.diagnostics or changes.stale:
        return None
    if tree.interrupted(folder):
        return None
    return changes.unchanged


def compare(done: Compilation, options: Options) -> tree.TreeDiff:
    """How a compilation's folder would differ from the committed one."""
    return tree.diff(options.committed / done.name, rendered(done, options))


def rendered(done: Compilation, options: Options) -> dict[str, bytes]:
    """All files of a compilation's folder, by path, as they would be written."""
    return render(done, _base(options))


@dataclass(frozen=True, slots=True)
class Prepared:
    """A compilation's folder before it is written: all of its files, and what writing them would change."""

    files: dict[str, bytes]
    changes: tree.TreeDiff
    taken: bool = False


def prepare(done: Compilation, options: Options, cdk8s: Synthesis) -> Prepared:
    """Render a compilation and hold it against its folder; nothing is written.

    Where cdk8s ran from the start, it has had the objects since they were lowered.
    """
    if done.current is not None:
        return Prepared({}, tree.TreeDiff(unchanged=done.current))
    files = render(done, _base(options))
    folder = options.output / done.name
    changes = tree.diff(folder, files)
    if changes.stale:
        faults = refused(done)
    else:
        faults = []
    if faults:
        return Prepared({}, tree.TreeDiff(diagnostics=tuple(faults)))
    return Prepared(files, changes, taken=cdk8s.busy)


def write(
    done: Compilation, prepared: Prepared, options: Options, cdk8s: Synthesis
) -> tree.TreeDiff:
    """Write a compilation's folder. cdk8s makes the objects that change; without any, Node is not started."""
    files, changes = prepared.files, prepared.changes
    root = options.output / done.name
    if done.current is not None or changes.failed:
        return changes
    if not changes.stale:
        if tree.interrupted(root):
            return tree.write(root, files)
        return changes
    if not prepared.taken:
        stale = {*changes.added, *changes.changed}
        changed = [manifest for manifest in done.manifests if manifest.path in stale]
        cdk8s.take(changed)
    faults = tuple(
        error(
            "INT001",
            f"cdk8s made another object of `{manifest.ref}`",
            manifest.at,
            help="this is a fault of Trainyard: please report it with the spec",
        )
        for manifest in cdk8s.differing()
    )
    if faults:
        diagnostics = (*changes.diagnostics, *faults)
        return replace(changes, diagnostics=diagnostics)
    return tree.write(root, files, changes)


def _base(options: Options) -> Path:
    parent = options.output.absolute().parent
    return Path(real_path(parent))


def orphans(
    done: Outcome, options: Options, paths: Sequence[str | os.PathLike[str]]
) -> list[Diagnostic]:
    """Folders of clusters that no spec names any more: those that this run reads were renamed, others are gone."""
    names = {compilation.name for compilation in done.compilations}
    read = [Path(real_path(path)) for path in paths]
    folders = [Path(folder) for folder in with_file(options.output, MANIFEST)]
    warnings = []
    for folder in folders:
        if folder.name in names:
            continue
        if spec_elsewhere(folder / MANIFEST, read):
            continue
        warnings.append(
            warning(
                "OUT009",
                f"`{folder}` belongs to no spec any more",
                help="take the cluster down, then remove the folder; or put its spec back",
            )
        )
    return warnings
