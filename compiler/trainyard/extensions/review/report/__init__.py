"""The report of a cluster for a reviewer of a pull request, in Markdown here and in HTML by ``extensions.review.html``.

A section is a module with one function ``section``, from a ``Subject`` to blocks; it is empty where it has nothing to
say. ``FIRST``, ``REST`` and ``LAST`` have their order.
"""

from collections.abc import Iterable, Iterator, Sequence
from types import ModuleType

from trainyard.extensions.forecast.blocks import Block, Heading, Strong, paragraph
from trainyard.extensions.forecast.platforms import sections_of
from trainyard.extensions.forecast.sections import (
    admission,
    cost,
    failures,
    models,
    spending,
    timeline,
)
from trainyard.extensions.forecast.subject import Subject
from trainyard.extensions.review.consequences.shown import summary
from trainyard.extensions.review.report import (
    amounts,
    changes,
    checkpoints,
    decisions,
    findings,
    jobs,
    merge,
    outside,
    overview,
    queues,
    runs,
    storage,
    teams,
    timeouts,
    trust,
    upgrades,
)
from trainyard.extensions.review.report.markdown import lines
from trainyard.extensions.review.report.shortened import Report, Section
from trainyard.extensions.review.report.why import Reason, reasons
from trainyard.language.diagnostics import Diagnostic

FIRST = (findings, merge, changes, upgrades, admission, amounts)
"""What a reviewer reads in a minute: what must be fixed, what the merge does, which jobs wait, what it costs."""
REST = (
    trust,
    runs,
    cost,
    spending,
    teams,
    queues,
    timeline,
    jobs,
    models,
    storage,
    checkpoints,
    failures,
    timeouts,
)
"""What Markdown folds away, in this order; then what extensions add to the platform, then ``LAST``."""
LAST = (outside, decisions)
UNTITLED = {findings: "Findings", decisions: "Decisions"}
"""Titles of sections that have blocks without a heading."""


def report(subject: Subject, line: str = "", *, changed: bool = True) -> Report:
    """Every section that has something to say, under the cluster's name. ``line``: what replaces it."""
    return Report(
        _head(subject.name, *_planned(subject), paragraph(f"{where(subject)}.")),
        tuple(_sections(FIRST, subject)),
        tuple(_sections(rest(subject), subject)),
        line,
        changed,
    )


def _planned(subject: Subject) -> Iterator[Block]:
    """What `plan` begins with, where there is an edit: it is what CI posts."""
    if subject.merge:
        yield paragraph((Strong(f"Plan: {summary(subject.merge)}"), "."))


def rest(subject: Subject) -> tuple[ModuleType, ...]:
    """All sections after the first ones."""
    return (*REST, *sections_of(subject), *LAST)


def overviews(rows: Sequence[overview.Row]) -> list[str]:
    """What stands before the reports of several clusters, the longest first: a row for each, for those to look at, for
    none. Of one cluster its report is the overview."""
    if len(rows) < 2:
        return [""]
    changed = [row for row in rows if row.changed]
    return [_head("Overview", *overview.blocks(rows, listed)) for listed in (rows, changed, [])]


def reasons_about(subject: Subject, text: str) -> list[Reason]:
    """Why the values are what they are that a text is about, word by word."""
    blocks = [block for module in (*FIRST, *rest(subject)) for block in module.section(subject)]
    words = text.split()
    return [reason for reason in reasons(subject, blocks) if reason.is_about(words)]


def where(subject: Subject) -> str:
    """Region, account and release of a cluster."""
    spec = subject.spec
    return f"{spec.region}, account {spec.account}, release {subject.plan.release}"


def unfinished(name: str, diagnostics: Sequence[Diagnostic], line: str = "") -> Report:
    """The report of a spec that has no plan: what is wrong with it."""
    section = _section(findings, findings.of(diagnostics))
    return Report(_head(name), (section,), line=line)


def _sections(modules: Iterable[ModuleType], subject: Subject) -> Iterator[Section]:
    for module in modules:
        blocks = list(module.section(subject))
        if blocks:
            yield _section(module, blocks)


def _section(module: ModuleType, blocks: Iterable[Block]) -> Section:
    found = list(blocks)
    titles = tuple(block.title for block in found if isinstance(block, Heading))
    return Section(titles or (UNTITLED[module],), _text(found))


def _head(name: str, *blocks: Block) -> str:
    return f"# {name}\n\n{_text(blocks)}"


def _text(blocks: Iterable[Block]) -> str:
    return "".join(f"{line}\n" for line in lines(blocks))


__all__ = [
    "FIRST",
    "LAST",
    "REST",
    "UNTITLED",
    "Subject",
    "overviews",
    "reasons_about",
    "report",
    "rest",
    "unfinished",
    "where",
]
