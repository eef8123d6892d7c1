"""``report``: the Markdown of each cluster, one after the other."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from compiler.catalog import load_catalog
from compiler.diagnostics.words import numbered
from compiler.driver import check, check_document
from compiler.emit import MANIFEST, UNREADABLE
from compiler.inputs import is_file, read_bytes, real_path
from compiler.language.load import platform_of
from compiler.language.moving import moved
from compiler.outcome import Compilation, Options, Outcome
from compiler.policy import Policies, load_policies
from compiler.report import Subject, report, unfinished
from compiler.report.moving import moving
from compiler.report.shortened import Report, joined, shortened
from compiler.rooms import Platform
from compiler.writer import compare


def text(done: Outcome, options: Options, limit: int | None = None, link: str = "") -> str:
    """What belongs to no cluster, then the report of each; of many only as much as fits, where there is a limit."""
    compilations = done.compilations
    reports = [_cluster_report(compilation, options) for compilation in compilations]
    if done.diagnostics:
        unread = unfinished("Specs", done.diagnostics)
        reports.insert(0, Report(unread, "- the specs", changed=True))
    if limit is None:
        return joined(reports)
    return shortened(reports, limit, link)


def moved_text(done: Outcome, options: Options, platform: Platform) -> str:
    """What each cluster would be on another platform."""
    reports = []
    if done.diagnostics:
        reports.append(unfinished("Specs", done.diagnostics))
    policies, _ = load_policies(options.policies, today=options.today)
    reports += [_moved(each, options, platform, policies) for each in done.compilations]
    return "\n".join(reports)


def _moved(done: Compilation, options: Options, platform: Platform, policies: Policies) -> str:
    if done.plan is None or done.spec is None:
        return unfinished(done.name, done.diagnostics)
    here = subject_of(done, options)
    document, refused = moved(done.document, platform)
    other = check_document(done.name, document, policies, replace(options, hold=False))
    there = subject_of(other, options) if other.plan is not None else None
    return moving(here, platform, refused, other.diagnostics, there)


def _cluster_report(done: Compilation, options: Options) -> Report:
    if done.plan is None or done.spec is None:
        unread = unfinished(done.name, done.diagnostics)
        return Report(unread, f"- **{done.name}**: in error", changed=True)
    changes = compare(done, options)
    subject = subject_of(done, options)
    before, reason = _before(done.name, options)
    subject = replace(
        subject,
        added=changes.added,
        changed=changes.changed,
        removed=changes.removed,
        before=before,
        without_before=reason,
    )
    return Report(report(subject), _line(subject), changed=changes.stale or bool(done.diagnostics))


def subject_of(done: Compilation, options: Options) -> Subject:
    """A cluster as reports see it."""
    assert done.plan is not None
    assert done.spec is not None
    return Subject(
        done.name,
        done.spec,
        done.plan,
        load_catalog(options.catalog),
        platform_of(done.document),
        findings=done.diagnostics,
        runs=done.runs or (),
        manifests=done.manifests,
        steps=done.steps,
    )


def _before(name: str, options: Options) -> tuple[Subject | None, str]:
    """The cluster as the folder to compare with has it: by the spec that it was compiled from. Without it, why."""
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
    earlier = replace(options, output=options.against, against=None, hold=False)
    done = check([spec], earlier, current=lambda _: None)
    for compilation in done.compilations:
        has_spec = compilation.plan is not None and compilation.spec is not None
        if compilation.name == name and has_spec:
            return subject_of(compilation, options), ""
    return None, f"not known, since `{file}` next to `{options.against}` is in error"


def _line(subject: Subject) -> str:
    """A cluster in one line."""
    parts = []
    for word, paths in (
        ("added", subject.added),
        ("changed", subject.changed),
        ("removed", subject.removed),
    ):
        if paths:
            parts.append(f"{len(paths)} {word}")
    if subject.findings:
        parts.append(numbered(len(subject.findings), "finding"))
    return f"- **{subject.name}**: {', '.join(parts) or 'unchanged'}"
