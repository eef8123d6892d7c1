"""What a report or a plan compares a cluster with: as another folder has it committed, and what is committed here."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from trainyard.core.jobs.plan import Gang
from trainyard.disk.inputs import is_file, read_bytes, real_path
from trainyard.eks.jobs.plan import TrainJob
from trainyard.extensions.forecast.sections.admission import simulated
from trainyard.extensions.forecast.subject import Subject
from trainyard.extensions.review.consequences import Change, Place, Revision, compared, in_order
from trainyard.extensions.review.consequences.verdicts import moved
from trainyard.extensions.review.edits.causes import edited
from trainyard.output.emit import MANIFEST, UNREADABLE
from trainyard.run.driver import check
from trainyard.run.history.committed import Committed
from trainyard.run.outcome import Compilation, Options
from trainyard.run.writer import rendered


def earlier(name: str, options: Options) -> tuple[Compilation | None, str]:
    """The cluster as the folder to compare with has it: by the spec that it was compiled from, and its runs as they
    were submitted. Without it, why."""
    if options.against is None:
        return None, ""
    head = options.against / name / MANIFEST
    if not is_file(head):
        return None, f"the cluster is not in `{options.against}`, so it is new"
    try:
        file = str(json.loads(read_bytes(head))["spec"])
    except UNREADABLE:
        return None, f"`{head}` does not say what it was compiled from"
    base = real_path(options.against.absolute().parent)
    spec = Path(base) / file
    if not is_file(spec):
        return (None, f"not known, since `{file}` is not next to `{options.against}`")
    before = replace(options, output=options.against, against=None, hold=True, replace=())
    done = check([spec], before, current=lambda _: None)
    for compilation in done.compilations:
        has_spec = compilation.plan is not None and compilation.spec is not None
        if compilation.name == name and has_spec:
            _forget_unwritten(compilation, options.against / name)
            return compilation, ""
    return None, f"not known, since `{file}` next to `{options.against}` is in error"


def _forget_unwritten(done: Compilation, folder: Path) -> None:
    """Take the jobs out of a plan that were never written: a spec may be committed without its output."""
    known = {run.key for run in Committed(folder).runs}
    if done.plan is not None and done.runs is not None:
        jobs = [job for job in done.plan.of(TrainJob) if (job.namespace, job.name) in known]
        done.plan = done.plan.with_items(TrainJob, jobs)


def revisions(
    done: Compilation, before: Compilation | None, options: Options
) -> tuple[Revision, Revision]:
    """What is committed, and what a compilation would write. ``before``: the compilation of what is committed, whose
    files are called as they are from the folder above the output."""
    folder = f"{options.output}/{done.name}"
    files = rendered(done, options)
    committed = Committed(options.committed / done.name).ours()
    of_old, of_new = edited(before.document, done.document) if before is not None else ((), ())
    alone = _made_by(committed) == _made_by(files)
    old = Revision(
        files=committed,
        artifacts={} if before is None else {each.path: each for each in before.artifacts},
        document=None if before is None else before.document,
        edited=of_old,
        alone=alone,
        folder=folder,
        base=True,
        root=real_path(options.committed.absolute().parent),
    )
    new = Revision(
        files=files,
        artifacts={artifact.path: artifact for artifact in done.artifacts},
        document=done.document,
        edited=of_new,
        alone=alone,
        folder=folder,
    )
    return old, new


def _made_by(files: Mapping[str, bytes]) -> tuple[Any, ...]:
    """The version and the facts that a folder was written with, which make files differ without an edit of the spec."""
    try:
        head = json.loads(files[MANIFEST])
        return head["trainyard"], head["facts"]
    except UNREADABLE:
        return ()


def changes_of(
    then: Subject | None, now: Subject, old: Revision, new: Revision
) -> Sequence[Change]:
    """What differs between two revisions, and the jobs that Kueue treats otherwise, the worst first."""
    changes = compared(old, new)
    if not changes or then is None:
        return changes
    return in_order([*changes, *_moved(then, now, new)])


def _moved(then: Subject, now: Subject, new: Revision) -> Iterator[Change]:
    """Jobs that Kueue would treat otherwise, where both sides can be simulated."""
    before, after = simulated(then), simulated(now)
    if before is not None and after is not None:
        yield from moved(before, after, _places(now, new))


def _places(subject: Subject, revision: Revision) -> Mapping[str, Place]:
    """The line of each job in the spec, by its name."""
    assert revision.document is not None
    found = {}
    for job in subject.plan.of(Gang):
        span = revision.document.span(job.at)
        found[job.source_name or job.name] = Place(span.file.name, span.line, span.column)
    return found
