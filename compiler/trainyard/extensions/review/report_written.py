"""``report``: the Markdown of each cluster, one after the other, or one HTML file of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from trainyard.cli.output import as_json
from trainyard.extensions.forecast.subjects import subject
from trainyard.extensions.review.consequences import Change
from trainyard.extensions.review.html import page
from trainyard.extensions.review.moved import moved
from trainyard.extensions.review.report import (
    Subject,
    overview,
    overviews,
    reasons_about,
    report,
    unfinished,
)
from trainyard.extensions.review.report.figures import figures
from trainyard.extensions.review.report.moving import moving
from trainyard.extensions.review.report.shortened import Report, joined, shortened
from trainyard.extensions.review.revisions import changes_of, earlier, revisions
from trainyard.judge.policy import Policies, load_policies
from trainyard.language.diagnostics.words import numbered
from trainyard.plan.features import Platform
from trainyard.run.driver import check_document
from trainyard.run.outcome import Compilation, Options, Outcome
from trainyard.run.writer import compare


def text(done: Outcome, options: Options, limit: int | None = None, link: str = "") -> str:
    """What belongs to no cluster, then the report of each; of many only as much as fits, where there is a limit."""
    reports = []
    rows = []
    for compilation in done.compilations:
        whole = _planned(compilation, options)
        row = _row(compilation, whole)
        rows.append(row)
        reports.append(_cluster_report(compilation, whole, row))
    heads = overviews(rows)
    if done.diagnostics:
        reports.insert(0, unfinished("Specs", done.diagnostics, "- the specs"))
    if limit is None:
        return joined(reports, heads[0])
    return shortened(reports, limit, link, heads)


def html(done: Outcome, options: Options) -> str:
    """The same of all clusters as one HTML file."""
    ids = page.Ids()
    clusters = []
    rows = []
    if done.diagnostics:
        clusters.append(page.unfinished("Specs", done.diagnostics, ids))
    for compilation in done.compilations:
        whole = _planned(compilation, options)
        row = _row(compilation, whole)
        rows.append(row)
        if whole is None:
            clusters.append(page.unfinished(compilation.name, compilation.diagnostics, ids))
        else:
            clusters.append(page.cluster(whole, ids, changed=row.changed))
    return page.page(clusters, rows)


def json_text(done: Outcome, options: Options) -> str:
    """What each cluster costs, as JSON; nothing of one that has no plan."""
    planned = [
        each for each in done.compilations if each.plan is not None and each.spec is not None
    ]
    clusters = [figures(subject(each, options)) for each in planned]
    return as_json({"clusters": clusters})


def why_text(done: Outcome, options: Options, about: str) -> str:
    """Why numbers of the report are what they are, a line each under their cluster; empty where none is found."""
    lines = []
    for compilation in done.compilations:
        if compilation.plan is None or compilation.spec is None:
            continue
        found = reasons_about(_whole(compilation, options), about)
        if found:
            lines += [compilation.name, *(f"  {reason}" for reason in found)]
    return "".join(f"{line}\n" for line in lines)


def moved_text(done: Outcome, options: Options, platform: Platform) -> str:
    """What each cluster would be on another platform."""
    reports = []
    if done.diagnostics:
        reports.append(unfinished("Specs", done.diagnostics).text)
    policies, _ = load_policies(options.policies, today=options.today)
    reports += [_moved(each, options, platform, policies) for each in done.compilations]
    return "\n".join(reports)


def _moved(done: Compilation, options: Options, platform: Platform, policies: Policies) -> str:
    if done.plan is None or done.spec is None:
        return unfinished(done.name, done.diagnostics).text
    here = subject(done, options)
    document, refused = moved(done.document, platform)
    other = check_document(done.name, document, policies, replace(options, hold=False))
    there = subject(other, options) if other.plan is not None else None
    return moving(here, platform, refused, other.diagnostics, there)


def _planned(done: Compilation, options: Options) -> Subject | None:
    """The subject of a compilation, where it has a plan."""
    if done.plan is None or done.spec is None:
        return None
    return _whole(done, options)


def _row(done: Compilation, whole: Subject | None) -> overview.Row:
    if whole is None:
        return overview.unfinished(done.name, done.diagnostics)
    return overview.of(whole)


def _cluster_report(done: Compilation, whole: Subject | None, row: overview.Row) -> Report:
    if whole is None:
        return unfinished(done.name, done.diagnostics, f"- **{done.name}**: in error")
    return report(whole, _line(whole), changed=row.changed)


def _whole(done: Compilation, options: Options) -> Subject:
    """The subject of a compilation, with what the edit changes."""
    changes = compare(done, options)
    before, reason = earlier(done.name, options)
    now = subject(done, options)
    then = None if before is None else subject(before, options)
    merge: Sequence[Change] = ()
    if changes.stale:
        merge = changes_of(then, now, *revisions(done, before, options))
    return replace(
        now,
        added=changes.added,
        changed=changes.changed,
        removed=changes.removed,
        before=then,
        without_before=reason,
        merge=merge,
    )


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
